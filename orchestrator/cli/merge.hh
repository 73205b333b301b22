// The shares of a campaign by a virtual clock become one campaign.
#pragma once

#include <string>
#include <vector>

#include "common/result.hh"

namespace longhaul::orchestrator {

/// Joins the run directories `parts` in `out`, which must not hold a campaign. Refuses parts of different campaigns,
/// seeds, clocks, QEMUs or labs; a run that several have must be the same bit by bit. An error leaves nothing in `out`.
Result<void> merge(const std::vector<std::string>& parts, const std::string& out);

}  // namespace longhaul::orchestrator
