// The claims on NFS over RDMA (PAPERS.md, section N): as data, each with its checker.
#pragma once

#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

/// N1 to N10: of the workloads rpc and rpc_attack.
std::vector<Claim> rpc_claims();
/// N11, N11s and N11k: of the workload rpc, and of the kernel's own NFS.
std::vector<Claim> rpc_bound_claims();

}  // namespace longhaul::results
