// The client of any workload: connects, runs, reports.
#pragma once

#include <string>

#include "model/record.hh"
#include "workloads/harness/events.hh"
#include "workloads/harness/runner.hh"
#include "workloads/harness/session.hh"
#include "workloads/transport/address.hh"

namespace longhaul::workloads {

struct ClientOptions {
  HostPort server;
  std::string transport;  ///< by name
  std::string bind;       ///< source address; empty: the device's, else as the kernel routes
  std::string device;     ///< of the transport; empty: whichever serves the source
  Parameters parameters;
  std::optional<PeerClock> clock = {};  ///< the server's, where somebody found it off the path
  Token token{};                        ///< of the server; all zero: none was given
};

struct ClientResult {
  NodeRecord client;
  NodeRecord server;
};

/// Runs one workload against a server. Events are emitted, the last of them too. Throws Interrupted.
Attempt<ClientResult> run_client(const ClientOptions& options, const WorkloadSpec& spec, const Runner& runner,
                                 Events& events, int stop);

/// The address that --bind and --device ask for; empty when neither is given.
Attempt<std::optional<SocketAddress>> source_address(const std::string& bind, const std::string& device,
                                                     const Transport& transport);

}  // namespace longhaul::workloads
