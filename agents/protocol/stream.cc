#include "agents/protocol/stream.hh"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "agents/protocol/tuple.hh"

namespace longhaul::agents {

namespace asio = boost::asio;

namespace {

SSL_CTX* add_reference(SSL_CTX* context) {
  ::SSL_CTX_up_ref(context);
  return context;
}

}  // namespace

/// Closes the stream when its time is up, unless it went before.
class Stream::Deadline {
 public:
  Deadline(Stream& stream, Nanoseconds timeout, std::string reason) : timer_(stream.stream_.get_executor(), timeout) {
    timer_.async_wait(
        [weak = stream.weak_from_this(), over = std::weak_ptr<bool>(alive_), text = std::move(reason)](auto error) {
          // A handler that is queued already is called in spite of cancel(): `over` tells.
          if (error || over.expired()) return;
          if (const auto self = weak.lock()) self->close(text);
        });
  }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  asio::steady_timer timer_;
};

Stream::Stream(Tcp::socket socket, SSL_CTX* context, std::size_t max_frame)
    : context_(add_reference(context)),
      stream_(std::move(socket), context_),
      decoder_(max_frame),
      flushed_(stream_.get_executor()) {
  boost::system::error_code ignored;
  stream_.next_layer().set_option(Tcp::no_delay(true), ignored);
}

asio::awaitable<Result<Identity>> Stream::handshake(TlsSide side, Nanoseconds timeout) {
  const auto self = shared_from_this();
  const auto type = side == TlsSide::server ? asio::ssl::stream_base::server : asio::ssl::stream_base::client;
  boost::system::error_code error;
  {
    const Deadline deadline{*this, timeout, "no TLS handshake in time"};
    std::tie(error) = co_await stream_.async_handshake(type, kTuple);
  }
  if (error) {
    const auto verification = verify_error(stream_.native_handle());
    const auto text = verification.empty() ? fmt::format("TLS handshake: {}", explain(error))
                                           : fmt::format("TLS handshake: the peer's certificate: {}", verification);
    close(text);
    if (!verification.empty()) co_return refuse("{}", text);  // trying again does not help
    co_return fail("{}", text);
  }
  co_return peer_identity(stream_.native_handle());
}

asio::awaitable<Result<std::string>> Stream::read(Nanoseconds timeout) {
  const auto self = shared_from_this();
  std::string frame;
  if (decoder_.next(frame)) co_return frame;
  if (!refused_.empty()) co_return fail("{}", refused_);
  const Deadline deadline{*this, timeout, fmt::format("nothing was heard for {} s", timeout.count() / 1'000'000'000)};
  for (;;) {
    if (closed()) co_return fail("{}", reason_);
    const auto target = asio::buffer(buffer_);
    const auto [error, size] = co_await stream_.async_read_some(target, kTuple);
    if (error) {
      close(explain(error));
      co_return fail("{}", reason_);
    }
    const auto fed = decoder_.feed({buffer_.data(), size});
    if (!fed) refused_ = fed.error().message;
    if (decoder_.next(frame)) co_return frame;
    if (!fed) co_return fail("{}", refused_);
  }
}

void Stream::send(std::string payload) {
  if (closed()) return;
  if (outbox_bytes_ + payload.size() > kMaxOutbox) {
    close(fmt::format("the peer does not read: {} bytes wait for it", outbox_bytes_));
    return;
  }
  outbox_bytes_ += payload.size();
  outbox_.push_back(encode_frame(payload));
  if (writing_) return;
  writing_ = true;
  asio::co_spawn(
      stream_.get_executor(), [self = shared_from_this()] { return self->write_outbox(); }, asio::detached);
}

asio::awaitable<void> Stream::write_outbox() {
  const auto self = shared_from_this();
  while (!outbox_.empty() && !closed()) {
    const std::string frame = std::move(outbox_.front());
    outbox_.pop_front();
    const auto source = asio::buffer(frame);
    const auto [error, size] = co_await asio::async_write(stream_, source, kTuple);
    outbox_bytes_ -= frame.size() - 4;  // the frame's header was not counted
    if (error) close(explain(error));
    flushed_.cancel();
  }
  writing_ = false;
  flushed_.cancel();
}

asio::awaitable<void> Stream::room(std::size_t limit, Nanoseconds timeout) {
  const auto self = shared_from_this();
  if (outbox_bytes_ <= limit || closed()) co_return;
  const Deadline deadline{*this, timeout, "the peer does not read"};
  while (outbox_bytes_ > limit && writing_ && !closed()) {
    flushed_.expires_after(timeout);
    (void)co_await flushed_.async_wait(kTuple);
  }
}

asio::awaitable<void> Stream::flush(Nanoseconds timeout) {
  const auto self = shared_from_this();
  const Deadline deadline{*this, timeout, "the peer does not read"};
  while (writing_ && !closed()) {
    flushed_.expires_after(timeout);
    (void)co_await flushed_.async_wait(kTuple);
  }
}

asio::awaitable<void> Stream::finish(Nanoseconds timeout) {
  const auto self = shared_from_this();
  co_await flush(timeout);
  const Deadline deadline{*this, timeout, "closed"};
  if (closed()) co_return;
  (void)co_await stream_.async_shutdown(kTuple);
  // Whatever the peer still sends is taken to nowhere until it closes too: closing with unread bytes would be a reset,
  // which takes from the peer what it has not read yet.
  auto& socket = stream_.next_layer();
  boost::system::error_code ignored;
  socket.shutdown(Tcp::socket::shutdown_send, ignored);
  std::string buffer(16384, '\0');
  for (;;) {
    const auto target = asio::buffer(buffer);
    const auto [error, size] = co_await socket.async_read_some(target, kTuple);
    if (error) break;
  }
  close("closed");
}

void Stream::close(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
  if (closed()) return;
  boost::system::error_code ignored;
  stream_.lowest_layer().close(ignored);
  flushed_.cancel();
}

std::string Stream::explain(const boost::system::error_code& error) const {
  if (!reason_.empty()) return reason_;  // we closed it ourselves
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) return "the peer closed the connection";
  if (error.category() == asio::error::get_ssl_category()) {
    const auto reason = ERR_GET_REASON(static_cast<unsigned long>(error.value()));
    // 1000 and above are the alerts that the peer sent (RFC 8446, section 6).
    if (reason >= SSL_AD_REASON_OFFSET) {
      const auto* text = ::ERR_reason_error_string(static_cast<unsigned long>(error.value()));
      return fmt::format("the peer refused us: {}", text != nullptr ? text : error.message());
    }
  }
  return error.message();
}

}  // namespace longhaul::agents
