// How a server receives a client: hears what it asks for, accepts it, makes the connections.
#pragma once

#include <string>

#include "workloads/harness/doorstep.hh"
#include "workloads/harness/runner.hh"
#include "workloads/harness/session.hh"

namespace longhaul::workloads {

/// What a client asks for, found here and complete.
struct Order {
  const Runner* runner = nullptr;
  const Transport* transport = nullptr;
  Parameters parameters;
  ConnectionPlan plan;

  /// How many clients, each on a node of its own, are served together (the workload's parameter client_nodes).
  std::size_t clients() const;
  bool same_as(const Order& other) const {
    return runner == other.runner && transport == other.transport && parameters == other.parameters;
  }
};

/// Reads the client's hello: one of `runners`. A client that is refused is told why.
Attempt<Order> hear(Arrival& client, const std::vector<Runner>& runners, const Patience& patience);

/// Accepts the client and makes its connections, in the order of their lanes. `device`: the device that must be used;
/// empty: whichever serves the address that the client came to. A client that is refused is told why.
Attempt<Connections> receive(Arrival& client, const Order& order, const std::string& device, Doorstep& doorstep,
                             const Patience& patience);

/// Tells a client why it is not served, or not any more; it may be gone already.
void tell(ControlChannel& control, ControlKind kind, const Refusal& refusal);

}  // namespace longhaul::workloads
