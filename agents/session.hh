// One controller's session: its requests answered, and everything that it started taken away when it goes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "agents/degen_link.hh"
#include "agents/node.hh"
#include "agents/protocol/messages.hh"
#include "agents/protocol/stream.hh"

namespace longhaul::agents {

/// Owned by shared_ptr: requests that take their time go on beside the reading.
class ControllerSession : public std::enable_shared_from_this<ControllerSession> {
 public:
  /// `stream`: after the handshake, which has proved that `controller` is one.
  ControllerSession(NodeServices& node, std::shared_ptr<Stream> stream, Identity controller, std::string from);

  /// Says hello and serves until the connection ends, the lease does or a message is bad.
  boost::asio::awaitable<void> run();
  /// Ends it hard: runs are killed, echoes stop, the impairment is cleared.
  void end(const std::string& reason);

 private:
  boost::asio::awaitable<std::string> listen();  ///< until there is nothing more to hear: why
  boost::asio::awaitable<void> serve(Request request);
  boost::asio::awaitable<Result<Reply>> answer(Request request);
  boost::asio::awaitable<Result<Reply>> start(StartRequest request);
  boost::asio::awaitable<Result<Reply>> start_process(StartRequest request);
  Result<Reply> connect(const ConnectRequest& request);
  boost::asio::awaitable<Result<Reply>> stop(StopRequest request);
  boost::asio::awaitable<Result<Reply>> degen(longhaul::degen::Request request);
  Result<Reply> echo(const EchoRequest& request);
  void relay(RunEvent event);
  void send(ServerMessage message);
  void let_go(const std::string& reason);
  void end_if(const std::exception_ptr& broken);  ///< ends it hard where there is one
  AuditEvent audit(AuditKind kind) const;

  NodeServices& node_;
  std::shared_ptr<Stream> stream_;
  Identity controller_;
  std::string from_;
  PeerWatch watch_;
  std::size_t unanswered_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< gone when the session is over: ends its probing
  std::map<std::string, std::shared_ptr<Process>> runs_;
  std::map<std::string, EchoLease> echoes_;
  std::shared_ptr<DegenLink> degen_;
};

}  // namespace longhaul::agents
