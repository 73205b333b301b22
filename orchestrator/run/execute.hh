// One execution of a workload: a server, a client (or several), their records; or one process by itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "orchestrator/run/links.hh"
#include "orchestrator/run/nodes.hh"
#include "orchestrator/run/pending.hh"

namespace longhaul::orchestrator {

struct RunRequest {
  std::string run_id;
  std::string workload;
  Parameters parameters;  ///< the workload's
  std::string transport;  ///< empty: it has none
  Link link;
  std::int64_t padding = 0;  ///< see agents::StartRequest
  std::string token;         ///< of its processes, see there; empty: it runs by itself
  Nanoseconds setup_timeout =
      std::chrono::seconds{20};  ///< until the server listens, and from its address to the client's connection
  Nanoseconds window_timeout = std::chrono::seconds{30};  ///< from there to the client's record; by itself: and from
                                                          ///< each word of progress
};

struct RunOutcome {
  Status status = Status::failed;
  std::string message;  ///< why it is not ok
  std::map<std::string, NodeRecord> nodes;
  std::int64_t measuring = 0;  ///< ns between the client's connection and the end of its window
};

/// Called on the driver's thread while a run is under way.
struct RunHooks {
  std::function<void()> window_open;    ///< the client has begun to measure: probe now
  std::function<void()> window_closed;  ///< it has stopped: the next run may be prepared
  std::function<bool()> stopped;        ///< polled; true ends the run
};

/// A run whose processes are there: a server that listens, clients that wait to be told of it. Or why it cannot be.
struct PreparedRun {
  std::uint16_t port = 0;  ///< the server's
  RunOutcome refusal;      ///< when port is 0: nothing is left of it (and of what runs by itself nothing is there)
};

/// Starts the processes, clients and server at once. Never throws; a lost node is a refusal. What runs by itself is
/// not started: it would measure at once, beside the run before it.
Awaitable<PreparedRun> prepare(Nodes& nodes, RunRequest request);

/// Lets the clients connect and sees the run to its end. The processes have ended, or are about to, when this returns;
/// what is left of them is stopped.
Awaitable<RunOutcome> execute(Nodes& nodes, RunRequest request, PreparedRun prepared, RunHooks hooks);

/// Ends the processes of a run that will not be made.
Awaitable<void> discard(Nodes& nodes, RunRequest request, PreparedRun prepared);

}  // namespace longhaul::orchestrator
