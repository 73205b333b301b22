// RDMA by verbs, connected by rdma_cm: a listener for each client, whose port the server tells.
#pragma once

#include "workloads/transport/transport.hh"

namespace longhaul::workloads::verbs {

std::vector<Transport> transports();

}  // namespace longhaul::workloads::verbs
