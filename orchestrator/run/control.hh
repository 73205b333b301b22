// The driver's interface to nodes. Narrow, so that the driver runs
// against doubles in its tests.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "agents/identity/expiry.hh"
#include "agents/protocol/messages.hh"
#include "common/result.hh"
#include "model/facts.hh"
#include "model/testbed.hh"

namespace longhaul::orchestrator {

template <typename T>
using Awaitable = boost::asio::awaitable<T>;

/// One connected node; agents::Controller tells the meaning of each call. After the connection is lost everything
/// fails.
class NodeControl {
 public:
  virtual ~NodeControl() = default;
  virtual bool connected() const = 0;
  /// Of the node's certificate; unlimited where it shows none.
  virtual agents::Term certificate() const { return {}; }
  virtual Awaitable<Result<NodeFacts>> facts() = 0;
  virtual Awaitable<Result<agents::ClockOffset>> clock() = 0;
  virtual Awaitable<Result<void>> start(agents::StartRequest request) = 0;
  virtual Awaitable<Result<void>> connect_client(agents::ConnectRequest request) = 0;
  virtual Awaitable<Result<void>> stop(std::string run_id) = 0;
  virtual Awaitable<Result<agents::RunEvent>> next_event(std::string run_id, Nanoseconds timeout) = 0;
  virtual Awaitable<Result<void>> probe_echo(agents::EchoRequest request) = 0;
  virtual Awaitable<Result<agents::ProbeResult>> probe(agents::ProbeRequest request) = 0;
  virtual Awaitable<Result<degen::Reply>> degen(degen::Request request) = 0;
  virtual Awaitable<void> close() = 0;
};

class Dialer {
 public:
  virtual ~Dialer() = default;
  /// One try. Errors name the node.
  virtual Awaitable<Result<std::unique_ptr<NodeControl>>> connect(Node node) = 0;
  /// Why trying again is pointless (a machine of the lab has died); empty: it is not.
  virtual std::string hopeless() { return {}; }
};

}  // namespace longhaul::orchestrator
