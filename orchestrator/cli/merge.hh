// The shares of a campaign by a virtual clock become one campaign.
#pragma once

#include <string>
#include <vector>

#include "common/result.hh"
#include "orchestrator/cli/directory.hh"

namespace longhaul::orchestrator {

/// Joins `parts` (run directories, or addresses in PostgreSQL) at `destination`, which must not hold a campaign.
/// Refuses parts of different campaigns, seeds, clocks, QEMUs or labs; a run that several have must be the same bit by
/// bit. An error leaves nothing in the directory.
Result<void> merge(const std::vector<std::string>& parts, const Destination& destination);

}  // namespace longhaul::orchestrator
