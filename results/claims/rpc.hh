// The claims on NFS over RDMA (PAPERS.md, section N): as data, each with its checker.
#pragma once

#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

/// N1 to N11: of the workloads rpc and rpc_attack, and of the kernel's own NFS.
std::vector<Claim> rpc_claims();

}  // namespace longhaul::results
