// The server's side of the handshake: reads what a client asks for, accepts it, makes the connections.
#pragma once

#include <string>

#include "workloads/harness/listener.hh"
#include "workloads/harness/runner.hh"
#include "workloads/harness/session.hh"

namespace longhaul::workloads {

/// A client's hello: its workload and transport are found here, its parameters are complete.
struct ClientRequest {
  const Runner* runner = nullptr;
  const Transport* transport = nullptr;
  Parameters parameters;
  ConnectionPlan plan;

  /// The number of clients, each on a node of its own, that are served together (the workload's parameter
  /// client_nodes).
  std::size_t clients() const;
  bool same_as(const ClientRequest& other) const {
    return runner == other.runner && transport == other.transport && parameters == other.parameters;
  }
};

/// Reads the client's hello: one of `runners`. `guarded`: the client has the server's token. A client that is refused
/// is told why.
Attempt<ClientRequest> read_request(WaitingClient& client, const std::vector<Runner>& runners, bool guarded,
                                    const Patience& patience);

/// Accepts the client and makes its connections, in the order of their lanes. `device`: the device that must be used;
/// empty: whichever serves the address that the client came to. A client that is refused is told why.
Attempt<Connections> accept_client(WaitingClient& client, const ClientRequest& request, const std::string& device,
                                   ClientListener& listener, const Patience& patience);

/// Tells a client why it is not served, or not any more; it may be gone already.
void tell_client(ControlChannel& control, ControlKind kind, const RunFailure& failure);

}  // namespace longhaul::workloads
