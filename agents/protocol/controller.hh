// The controller's side of an agent: a TLS connection with requests in flight, events and a heartbeat.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "agents/identity/credentials.hh"
#include "agents/protocol/messages.hh"
#include "common/result.hh"
#include "model/testbed.hh"

namespace longhaul::agents {

template <typename T>
using Awaitable = boost::asio::awaitable<T>;

struct ControllerOptions {
  Nanoseconds connect_timeout = std::chrono::seconds{15};  ///< all of it: TCP, TLS, the agent's hello
  Nanoseconds request_timeout = std::chrono::seconds{20};  ///< what a request takes by itself (probing) comes on top
  Nanoseconds heartbeat = std::chrono::seconds{2};
};

/// One connected agent. Move-only; lives on one io_context, whose thread alone may use it. When it goes, or its process
/// does, the agent ends the runs that it started, stops echoing and has its impairment cleared.
///
/// Errors name the node. After the connection is lost every call and every wait returns that error, at once.
class Controller {
 public:
  /// Connected means: the agent's hello came, its certificate says agent and `node.name`, its version is ours.
  /// Run on the io_context's executor. Arguments by value: it is a coroutine.
  static Awaitable<Result<Controller>> connect(Node node, Credentials credentials, ControllerOptions options = {});

  Controller(Controller&&) noexcept;
  Controller& operator=(Controller&&) noexcept;
  ~Controller();

  const Node& node() const;
  const Hello& hello() const;
  /// The agent, by its certificate.
  const Identity& agent() const;
  bool connected() const;

  Awaitable<Result<NodeFacts>> facts();

  /// The node's clock less this machine's (steady_clock), from the quickest of a few exchanges.
  Awaitable<Result<ClockOffset>> clock();

  /// Returns when the process runs. Its events are to be had by next_event.
  Awaitable<Result<void>> start(StartRequest request);
  /// Lets a client that was started go on to its server.
  Awaitable<Result<void>> connect_client(ConnectRequest request);
  /// Ends a run (SIGTERM, then SIGKILL); returns when it is gone. A run that is gone already is no error.
  Awaitable<Result<void>> stop(std::string run_id);
  /// The run's next event, oldest first. The last has `exit`. A time-out is an error (and loses nothing).
  Awaitable<Result<RunEvent>> next_event(std::string run_id, Nanoseconds timeout);

  Awaitable<Result<void>> probe_echo(EchoRequest echo);
  /// Round trips measured at the node. May run while a workload does.
  Awaitable<Result<ProbeResult>> probe(ProbeRequest probe);

  /// Any request of degen's protocol, answered by the degen of that node (a router). A refusal by degen is an error
  /// here.
  Awaitable<Result<longhaul::degen::Reply>> degen(longhaul::degen::Request request);

  /// Closes in order; the destructor closes hard.
  Awaitable<void> close();

 private:
  struct Link;
  explicit Controller(std::shared_ptr<Link> link);
  std::shared_ptr<Link> link_;
};

}  // namespace longhaul::agents
