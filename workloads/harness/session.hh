// One run as either end sees it: warm-up, barrier, measured window, barrier; what was used during the window.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "workloads/harness/control.hh"
#include "workloads/harness/loop.hh"
#include "workloads/harness/run_side.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/plan.hh"
#include "workloads/transport/transport.hh"

namespace longhaul::workloads {

/// The other end gave up and said why (or left without a word).
class PeerFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This machine, or the way it is set up, cannot give the figure that is asked for.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The peer's observe::raw_time() less this end's.
struct PeerClock {
  Nanoseconds offset{};
  Nanoseconds error{};  ///< at the most: half of the fastest exchange; 0 where both ends have one clock
};

/// The common part of both ends: the connections.
class PairedSession : public RunSide {
 public:
  PairedSession(const WorkloadSpec& spec, Role role, Parameters parameters, const ConnectionPlan& plan,
                Connections connections, ControlChannel& control, Events& events, int stop);

  const Connections& connections() const { return connections_; }

  /// By the parameter `completion`: this end sleeps until there is something, and does not spin.
  bool sleeps() const { return word("completion") == "event"; }

  /// Does nothing for so long, but look for Ctrl-C and broken connections. Throws.
  void idle(Nanoseconds time) const;

  /// The addresses and ports of this end and of its peer, as the run's control connection has them.
  SocketAddress here() const { return local_address(control_.fd()); }
  SocketAddress there() const { return peer_address(control_.fd()); }

  /// Of the path as it was when the connections were made.
  Nanoseconds round_trip() const { return round_trip_; }
  /// The change of a counter of the transport during the window that has been closed.
  double moved(const std::string& counter) const;

  /// A connection over the same path and device to another server of the peer's, which is not longhaul's. Throws
  /// Unsupported where the transport cannot, std::runtime_error.
  Foreign dial(const ConnectionPlan& plan, std::uint16_t port, const std::string& private_data) const;

  /// Another thread drives this connection from now on, and looks after it.
  void leave(const Connection& connection) { left_.push_back(&connection); }

  /// Adds to a counter of the workload's own in the record; 0 leaves no trace.
  void count(const std::string& name, double value);
  /// The record of a good run of this end.
  NodeRecord record(std::map<std::string, Metric> metrics) const;

 protected:
  /// At that time; empty: at once. What takes time is done before: nothing is on its way then.
  void open_window(std::optional<observe::RawTime> at = {});
  void close_window();
  /// Looks for Ctrl-C and broken connections. Throws.
  void check_world() const;
  Patience patience() const;

  Connections connections_;
  ControlChannel& control_;

 private:
  std::vector<std::map<std::string, double>> counters() const;

  std::vector<std::map<std::string, double>> counters_start_;
  std::vector<const Connection*> left_;
  TransportFacts transport_;
  Nanoseconds round_trip_{};
};

/// When a client's window is to open, by its own clock, as the server's answer to its request for it says ahead: both
/// have one clock (equal boot ids), or the server's is known. Empty where nothing was said or no clock is known: at
/// once. A few seconds from now at the latest, whatever a server says. Pure.
std::optional<observe::RawTime> opening_of(const ControlMessage& told, const std::string& boot,
                                           const std::optional<PeerClock>& clock, observe::RawTime now);

/// The client decides when the window opens and closes.
class ClientSession : public PairedSession {
 public:
  using PairedSession::PairedSession;

  struct Options {
    bool sleeping = false;
    bool inspecting = false;
    std::int64_t divisor = 1;
    std::size_t kinds = 1;                     ///< of operations that the lanes take in turn
    std::int64_t round_trips = 0;              ///< that the warm-up lasts at the least
    std::optional<std::uint64_t> fewest = {};  ///< operations of the window, in place of min_samples
    /// Whether the window has what it should, given its operations: waited for beyond its duration, but not for long.
    /// With less the run is limited. Empty: it always has.
    std::function<bool(std::uint64_t operations)> enough = {};
    std::function<std::uint64_t()> count = {};  ///< LoopOptions::count
  };
  /// Until the server has all connections: before that Linux's siw (6.1, siw_accept()) overlooks what comes over them.
  void await_connected() const;
  /// Runs the workload's warm-up, then its window (parameters warmup, duration, min_samples, timeout). Throws
  /// std::system_error or std::runtime_error when it cannot be brought to its end, with the server's reason if it gave
  /// one. The samples of each kind.
  std::vector<Samples> measure(const Lanes& lanes, const Options& options);
  /// Until the server says that it is prepared, and what else it says (ServerSession::prepared). Spins: a client that
  /// slept would leave a processor to the server that it will not have later.
  std::string await_prepared();
  /// The server's clock, found by others off the path.
  void know_clock(PeerClock clock) { known_clock_ = clock; }
  /// The server's clock, which tells it (ServerSession::tell_clock): over the path itself, where the error is that of
  /// half a round trip; or as it is known, where that is better. What the two may drift apart until the window closes
  /// is in the error.
  PeerClock peer_clock();
  /// Tells the server that the window is closed and what was measured here (numbers only), and waits for its record.
  NodeRecord finish(const std::map<std::string, Metric>& metrics);

 private:
  bool tick();
  /// The server's next message, which must be of this kind; `expected` names it. Throws.
  ControlMessage hear(ControlKind kind, const std::string& expected) const;
  std::optional<observe::RawTime> window_end_;
  std::optional<PeerClock> known_clock_;
};

/// The server answers until the clients close the window: it opens when all have asked for it, and the first that is
/// through closes it.
class ServerSession : public PairedSession {
 public:
  /// `clients`: the control connections of those that are served together, at least one.
  ServerSession(const WorkloadSpec& spec, Parameters parameters, const ConnectionPlan& plan, Connections connections,
                const std::vector<ControlChannel*>& clients, Events& events, int stop);

  /// Answers on `lanes` until all clients have said that the window is closed. Without lanes it sleeps: one-sided
  /// operations need nothing of the target.
  void serve(const Lanes& lanes, bool sleeping);

  /// Does `work` again and again until then: a process that is busy with something else.
  void occupy(const std::function<void()>& work);

  /// Lets clients that await it begin, and tells them what they have to know of what was prepared.
  void prepared(const std::string& words = {});
  /// Answers the client's peer_clock().
  void tell_clock();

  /// Called when the window opens.
  void on_window(std::function<void()> callback) { on_window_ = std::move(callback); }

  /// The sum of the clients' measurements, after serve(); 0 where there is none.
  double peer_metric(const std::string& name) const;

 private:
  struct Client {
    ControlChannel* control;
    bool ready = false;    // has asked for the window
    bool through = false;  // has closed its own
  };
  bool tick();
  void take(Client& client, const ControlMessage& message);
  void open_with_clients();
  void tell_all(const ControlMessage& message);

  std::vector<Client> clients_;
  const Lanes* lanes_ = nullptr;  // those being served
  std::function<void()> on_window_;
  std::map<std::string, double> peer_metrics_;
};

/// A histogram and its raw samples as a record's metric.
Metric to_metric(const Samples& samples);
/// A number without a distribution: a ratio, a rate. `samples`: how many operations it rests on.
Metric to_metric(double value, std::uint64_t samples);

}  // namespace longhaul::workloads
