// The state that all sessions of an agent share.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "agents/audit.hh"
#include "agents/echo.hh"
#include "agents/identity/credentials.hh"
#include "agents/limits.hh"
#include "agents/process.hh"
#include "model/parameter.hh"
#include "model/units.hh"

namespace longhaul::agents {

struct AgentOptions {
  std::string host;          ///< numeric address to listen at
  std::uint16_t port = 0;    ///< 0: any free one
  Credentials credentials;   ///< of role agent
  std::string bench;         ///< path of longhaul-bench
  std::string degen_socket;  ///< empty: this node emulates nothing
  std::vector<int> cpus;     ///< where workloads run; empty: anywhere
  ProcessLimits limits;      ///< of each workload process
  std::string audit;         ///< file of the audit log; empty: none is kept

  Nanoseconds lease = std::chrono::seconds{10};  ///< silence of a controller after which its session ends
  Nanoseconds handshake_timeout = std::chrono::seconds{10};
  Nanoseconds stop_grace = std::chrono::seconds{2};  ///< between SIGTERM and SIGKILL
  /// The time that a start waits for processes of another session to be gone: a resumed campaign may come while the old
  /// one's die.
  Nanoseconds handover = std::chrono::seconds{3};
  std::size_t max_pending = 64;  ///< connections that have not proved themselves yet
  std::size_t max_sessions = 8;
  std::size_t max_runs = 4;       ///< processes of one session
  std::size_t max_requests = 32;  ///< of one session, unanswered
};

struct NodeServices {
  AgentOptions options;
  std::string name;  ///< as in the agent's certificate
  const std::vector<WorkloadSpec>& catalog;
  Echoes echoes;
  std::shared_ptr<AuditLog> audit;                ///< shared: a process may end after the agent
  std::vector<std::weak_ptr<Process>> processes;  ///< of all sessions, also of those that are over
};

}  // namespace longhaul::agents
