// Parameters and metrics of the workload `rpc`: calls of NFS version 3 over RDMA, by both designs of paper N, and over
// sockets.
#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::rpc {

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::rpc
