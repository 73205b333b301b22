// One execution of a workload: a server, a client (or several), their records.
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
  std::string transport;
  Link link;
  Nanoseconds setup_timeout =
      std::chrono::seconds{20};  ///< until the server listens, and until the client is connected
  Nanoseconds window_timeout = std::chrono::seconds{30};  ///< from there to the client's record
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

/// A server that listens, or why there is none.
struct Server {
  std::uint16_t port = 0;
  std::shared_ptr<NodeControl> node;
  RunOutcome refusal;  ///< when port is 0
};

/// Starts the run's server and waits until it listens. Never throws; a lost node is a refusal.
Awaitable<Server> start_server(Nodes& nodes, RunRequest request);

/// Starts the client against the server and sees the run to its end. Both processes have ended, or are about to, when
/// this returns; what is left of them is stopped.
Awaitable<RunOutcome> execute(Nodes& nodes, RunRequest request, Server server, RunHooks hooks);

/// Ends a server that will not be used.
Awaitable<void> stop_server(RunRequest request, Server server);

}  // namespace longhaul::orchestrator
