// Both ends of a peer's tool as lanes: child processes that are started, watched and started again.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "common/child.hh"
#include "observe/clock.hh"
#include "workloads/harness/loop.hh"
#include "workloads/harness/session.hh"
#include "workloads/protocols/peer.hh"

namespace longhaul::workloads::peer {

/// The tool's run from a session's parameters: between the addresses of its connection, at the port behind the
/// session's own.
PeerRun run_of(const ClientSession& session, Measure measure);
PeerRun run_of(const ServerSession& session, Measure measure);

/// A child and all that it prints.
class Tool {
 public:
  /// Throws std::runtime_error when there is no such program here.
  explicit Tool(const std::vector<std::string>& command);
  std::optional<ChildExit> poll() { return child_.poll(); }
  std::string output() const;

 private:
  OwnFd output_;
  Child child_;
};

/// The tool's server serves one client and ends: there always is one. Where it ends badly kMostFailures times in a row
/// (another program has its port) the run ends with what it said.
class PeerServer final : public Lane {
 public:
  PeerServer(Connection& connection, PeerRun run);
  void start() override {}
  bool advance() override;
  Waitable& waitable() override { return connection_; }

 private:
  Connection& connection_;
  PeerRun run_;
  std::optional<Tool> tool_;
  int failures_ = 0;  ///< in a row
  observe::RawTime not_before_;
};

/// One operation is one run of the tool's client. The warm-up of a throughput by perftest, which counts messages, tells
/// how many the window takes; the others need none.
class PeerClient final : public Lane {
 public:
  PeerClient(Connection& connection, PeerRun run);
  void start() override;
  /// Throws std::runtime_error with the tool's own words when it cannot be brought to its end.
  bool advance() override;
  void reset() override { ++phase_; }
  Waitable& waitable() override { return connection_; }

  /// Of the runs in the window: bit/s, or ns. The middle one, and how many there were.
  std::pair<double, std::uint64_t> median() const;

 private:
  Connection& connection_;
  PeerRun run_;
  std::optional<Tool> tool_;
  int phase_ = 0;
  int tries_ = 0;
  observe::RawTime not_before_;
  std::vector<double> values_;
};

/// A client's window: the tool's median (PeerClient), as a metric.
Metric measure(ClientSession& session, PeerRun run);
/// The server's side of it.
void serve(ServerSession& session, PeerRun run);

}  // namespace longhaul::workloads::peer
