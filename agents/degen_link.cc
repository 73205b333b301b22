#include "agents/degen_link.hh"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "agents/protocol/tuple.hh"
#include "common/log.hh"

namespace longhaul::agents {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds kAnswer{15};  ///< degen answers within milliseconds; more on an emulated processor

}  // namespace

DegenLink::DegenLink(asio::any_io_executor executor, std::string socket_path, std::string client)
    : executor_(executor),
      path_(std::move(socket_path)),
      client_(std::move(client)),
      socket_(executor),
      turn_(executor, asio::steady_timer::time_point::max()),
      heart_(executor) {}

asio::awaitable<Result<degen::Reply>> DegenLink::request(degen::Request request) {
  const auto self = shared_from_this();
  while (busy_) (void)co_await turn_.async_wait(kTuple);
  if (closed_) co_return fail("degen: the session is over");
  busy_ = true;
  // Closing makes whatever is pending fail. A timer whose handler is queued already must not hit the next request.
  const auto pending = std::make_shared<bool>(true);
  asio::steady_timer deadline{executor_, kAnswer};
  deadline.async_wait([self, weak = std::weak_ptr<bool>(pending)](auto error) {
    if (error || weak.expired()) return;
    boost::system::error_code ignored;
    self->socket_.close(ignored);
  });
  request.client = client_;
  auto reply = co_await exchange(std::move(request));
  if (reply) {
    held_ = reply->held;
  } else {
    disconnect();
  }
  busy_ = false;
  turn_.cancel();
  co_return reply;
}

asio::awaitable<Result<degen::Reply>> DegenLink::exchange(degen::Request request) {
  const auto self = shared_from_this();
  if (!socket_.is_open()) {
    decoder_ = FrameDecoder{};
    const asio::local::stream_protocol::endpoint endpoint{path_};
    const auto [error] = co_await socket_.async_connect(endpoint, kTuple);
    if (error)
      co_return fail("degen at {}: {} (is degen serve running, and may this agent use its socket?)", path_,
                     error.message());
    ++connection_;
    asio::co_spawn(executor_, beat(connection_), asio::detached);
  }
  const auto frame = encode_frame(degen::to_json(request));
  const auto source = asio::buffer(frame);
  const auto [not_sent, sent] = co_await asio::async_write(socket_, source, kTuple);
  if (not_sent) co_return fail("degen at {}: {}", path_, not_sent.message());
  std::string text;
  std::string buffer(16384, '\0');
  while (!decoder_.next(text)) {
    const auto target = asio::buffer(buffer);
    const auto [error, size] = co_await socket_.async_read_some(target, kTuple);
    if (error) {
      if (error == asio::error::eof) co_return fail("degen at {}: it closed the connection", path_);
      co_return fail("degen at {}: {}", path_, socket_.is_open() ? error.message() : "no answer in time");
    }
    if (const auto fed = decoder_.feed({buffer.data(), size}); !fed)
      co_return fail("degen at {}: {}", path_, fed.error().message);
  }
  auto reply = degen::reply_from_json(text);
  if (!reply) co_return fail("degen at {}: {}", path_, reply.error().message);
  co_return reply;
}

asio::awaitable<void> DegenLink::beat(std::uint64_t connection) {
  const auto self = shared_from_this();
  for (;;) {
    heart_.expires_after(degen::kHeartbeat);
    (void)co_await heart_.async_wait(kTuple);
    if (closed_ || !socket_.is_open() || connection_ != connection) co_return;
    if (busy_) continue;  // a request renews the lease just as well
    const bool held = held_;
    degen::Request heartbeat;
    const auto reply = co_await request(std::move(heartbeat));
    if (!reply) {
      if (!closed_) log::warn("{}; an impairment applied through it is gone", reply.error().message);
      co_return;
    }
    if (held && !reply->held) log::warn("degen no longer holds the impairment of {}", client_);
  }
}

void DegenLink::disconnect() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  heart_.cancel();
  held_ = false;
}

void DegenLink::close() {
  closed_ = true;
  disconnect();
  turn_.cancel();
}

}  // namespace longhaul::agents
