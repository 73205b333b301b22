// A workload that runs alone: one process on one node, without a peer.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "workloads/harness/run_side.hh"

namespace longhaul::workloads {

struct Runner;

struct LocalOptions {
  std::string transport;  ///< tcp, rdma; empty: the workload has none
  std::string device;     ///< RDMA device, or network interface; empty: the workload's choice
  std::string bind;       ///< this node's address on it; empty: the workload's choice
  Parameters parameters;
};

/// The parameters cannot be right.
class WrongInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run as its workload sees it. The window opens and closes when the workload says so.
class LocalSession : public RunSide {
 public:
  /// `parameters` are complete.
  LocalSession(const LocalOptions& options, const WorkloadSpec& spec, Parameters parameters, Events& events, int stop)
      : RunSide(spec, Role::local, std::move(parameters), unused_on(spec, options.transport), options.transport, events,
                stop),
        options_(options) {}

  const std::string& device() const { return options_.device; }
  const std::string& bind() const { return options_.bind; }
  /// Readable when the user wants to end it; -1: never.
  int stop() const { return stop_; }
  /// Throws Interrupted when it is. A system call.
  void check_stop() const;

  using RunSide::close_window;
  using RunSide::open_window;
  using RunSide::progress;

  /// Facts about the transport that the run used; without them the record has none.
  void set_transport(TransportFacts facts) { facts_ = std::move(facts); }
  /// The record of a good run.
  NodeRecord record(std::map<std::string, Metric> metrics) const;

 private:
  const LocalOptions& options_;
  std::optional<TransportFacts> facts_;
};

/// Runs one workload by itself. Events are emitted, the last of them too. Throws Interrupted.
Attempt<NodeRecord> run_local(const LocalOptions& options, const WorkloadSpec& spec, const Runner& runner,
                              Events& events, int stop);

}  // namespace longhaul::workloads
