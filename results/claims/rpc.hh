// The claims on NFS over RDMA (PAPERS.md, section N): as data, each with its checker.
#pragma once

#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

/// Of N1 to N11 those that the workload rpc decides: N2, N3, N11.
std::vector<Claim> rpc_claims();

}  // namespace longhaul::results
