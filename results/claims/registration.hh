// The claims of the papers on memory registration (PAPERS.md, sections M and R): as data, each with its small checker.
#pragma once

#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

/// M1 to M4: what caching saves.
std::vector<Claim> caching_claims();
/// M5 to M9, R1 to R4: what registering costs.
std::vector<Claim> registration_claims();

}  // namespace longhaul::results
