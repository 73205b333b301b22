// Frames over TLS on Asio: what both sides of the agents' protocol stand on.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <string>

#include "agents/identity/credentials.hh"
#include "common/frame.hh"
#include "common/result.hh"
#include "model/units.hh"

namespace longhaul::agents {

/// A TLS connection that carries frames. Owned by shared_ptr because its own writing goes on while others hold it.
/// One coroutine reads; anyone sends. All on one thread.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using Tcp = boost::asio::ip::tcp;

  /// Limit of the bytes that are queued and not yet taken by the peer; beyond it the connection is closed.
  static constexpr std::size_t kMaxOutbox = std::size_t{64} << 20;

  /// `max_frame`: the longest frame that is taken from the peer, bytes.
  Stream(Tcp::socket socket, SSL_CTX* context, std::size_t max_frame);

  /// The TLS handshake, then the peer's identity. The error says which of them failed and why.
  boost::asio::awaitable<Result<Identity>> handshake(TlsSide side, Nanoseconds timeout);

  /// The next frame, whole within `timeout`. After an error the stream is closed, but for what `finish` sends.
  boost::asio::awaitable<Result<std::string>> read(Nanoseconds timeout);

  /// Queues a frame; never waits. Nothing is sent on a closed stream.
  void send(std::string payload);

  /// Waits until at most `limit` bytes are queued, at most `timeout`, else closes.
  boost::asio::awaitable<void> room(std::size_t limit, Nanoseconds timeout);

  /// Waits until all that was queued is with the kernel, at most `timeout`, else closes.
  boost::asio::awaitable<void> flush(Nanoseconds timeout);

  /// Sends what is queued and closes in order, so that the peer can read it all, at most `timeout` long. No read may be
  /// pending.
  boost::asio::awaitable<void> finish(Nanoseconds timeout);

  /// Closes hard; `reason` becomes the error of pending reads. The first reason stays.
  void close(std::string reason);
  bool closed() const { return !stream_.lowest_layer().is_open(); }

 private:
  class Deadline;
  boost::asio::awaitable<void> write_outbox();
  std::string explain(const boost::system::error_code& error) const;

  boost::asio::ssl::context context_;  ///< a reference to the caller's
  boost::asio::ssl::stream<Tcp::socket> stream_;
  std::array<char, 16384> buffer_;  ///< a TLS record holds no more
  FrameDecoder decoder_;
  std::string refused_;  ///< the frame decoder's refusal: nothing more is read
  std::deque<std::string> outbox_;
  std::size_t outbox_bytes_ = 0;
  bool writing_ = false;
  boost::asio::steady_timer flushed_;
  std::string reason_;
};

}  // namespace longhaul::agents
