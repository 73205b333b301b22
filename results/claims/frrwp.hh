// The claims on overlapped registration and conditional writes (PAPERS.md, section F): as data, each with its checker.
#pragma once

#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

/// F1 to F3.
std::vector<Claim> frrwp_claims();

}  // namespace longhaul::results
