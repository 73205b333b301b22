// UCX, which MPI libraries and storage systems run on: over verbs (ucx) and over TCP (ucx_tcp). Addresses are exchanged
// over one TCP connection for each of its own.
#pragma once

#include "workloads/transport/transport.hh"

namespace longhaul::workloads::ucx {

/// ucx: over verbs, reliable connections of an RDMA device. ucx_tcp: over UCX's own use of TCP sockets, messages only,
/// for its put and get need the target's processor there.
std::vector<Transport> transports();

}  // namespace longhaul::workloads::ucx
