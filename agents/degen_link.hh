// One controller's connection to the degen of this node: requests passed on, the lease renewed in between.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "common/frame.hh"
#include "common/result.hh"
#include "degen/client/messages.hh"

namespace longhaul::agents {

/// Owned by shared_ptr. Connects with the first request. When it is closed, degen clears what was applied through it.
class DegenLink : public std::enable_shared_from_this<DegenLink> {
 public:
  /// `client`: who is asking, for people.
  DegenLink(boost::asio::any_io_executor executor, std::string socket_path, std::string client);

  /// One at a time is with degen, others wait. A refusal by degen is a reply that is not ok; an error means that degen
  /// cannot be reached or that the connection broke (then the next request makes another).
  boost::asio::awaitable<Result<degen::Reply>> request(degen::Request request);

  void close();

 private:
  boost::asio::awaitable<Result<degen::Reply>> exchange(degen::Request request);
  boost::asio::awaitable<void> beat(std::uint64_t connection);
  void disconnect();

  boost::asio::any_io_executor executor_;
  std::string path_;
  std::string client_;
  boost::asio::local::stream_protocol::socket socket_;
  FrameDecoder decoder_;
  boost::asio::steady_timer turn_;
  boost::asio::steady_timer heart_;
  bool busy_ = false;
  bool closed_ = false;
  bool held_ = false;             ///< degen's last word about our impairment
  std::uint64_t connection_ = 0;  ///< counts connections, so that an old one's heartbeat ends
};

}  // namespace longhaul::agents
