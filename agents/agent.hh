// The agent: listens for controllers, proves who they are and gives each a session.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <string>

#include "agents/node.hh"
#include "agents/refused_connections.hh"
#include "agents/session.hh"

namespace longhaul::agents {

/// Lives on one io_context and its one thread; must outlive the io_context's run().
class Agent {
 public:
  /// Checks the credentials (role agent), opens the audit log and listens. Throws std::system_error when the port
  /// cannot be had.
  static Result<std::unique_ptr<Agent>> open(boost::asio::io_context& context, AgentOptions options,
                                             const std::vector<WorkloadSpec>& catalog);
  ~Agent();

  const std::string& name() const { return node_.name; }
  std::uint16_t port() const { return port_; }

  /// The audit log's file was moved away: a new one is begun.
  void reopen_audit() { node_.audit->reopen(); }

  /// Stops listening and ends every session; the io_context runs out of work when the processes are gone.
  void close();

 private:
  using Tcp = boost::asio::ip::tcp;

  Agent(boost::asio::io_context& context, AgentOptions options, std::string name,
        const std::vector<WorkloadSpec>& catalog);
  struct Pending {
    std::weak_ptr<Stream> stream;
    boost::asio::ip::address from;
  };
  boost::asio::awaitable<void> accept();
  void admit(Tcp::socket socket);
  void make_room();
  void refuse_stranger(const std::string& from, const Identity* who, const std::string& reason);
  boost::asio::awaitable<void> welcome(std::shared_ptr<Stream> stream, std::string from);
  Result<void> refresh_context();
  void warn_of_expiry() const;
  boost::asio::awaitable<void> remind();

  boost::asio::io_context& context_;
  NodeServices node_;
  Tcp::acceptor acceptor_;
  boost::asio::steady_timer daily_;
  std::uint16_t port_ = 0;
  SslContext ssl_;
  std::string ssl_fingerprint_;
  std::list<Pending> pending_;  ///< oldest first
  RefusedConnections refused_;
  std::list<std::weak_ptr<ControllerSession>> sessions_;
};

}  // namespace longhaul::agents
