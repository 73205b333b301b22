// The claims of "RDMA over IP in a WAN" (PAPERS.md, section W): as data, each with its small checker.
#pragma once

#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

const std::vector<Claim>& wan_claims();

}  // namespace longhaul::results
