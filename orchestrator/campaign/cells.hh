// From a campaign to its cells: the product of series and axes, what does not apply left out, each checked as a whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/cell.hh"
#include "orchestrator/campaign/campaign.hh"

namespace longhaul::orchestrator {

struct CampaignCell {
  Cell cell;
  std::size_t experiment = 0;  ///< the campaign's first that has this cell
  std::string id;              ///< cell_id(cell)
  bool local = false;          ///< its workload runs on one node by itself: no path, no impairment
  std::string group;           ///< canonical impairment and engine: cells of equal group share an impairment
  std::string
      unsupported;  ///< why no device of this provider, or this engine, can do it, known without trying; empty: try
};

/// The workload of this cell.
const WorkloadSpec& workload_of(const Campaign& campaign, const CampaignCell& cell);

/// The number of combinations that the campaign asks for, before any is made; capped at 2^62.
std::int64_t count_combinations(const Campaign& campaign);

/// The cells in the file's order, each once: an axis that does not apply to a transport is left out, and what is equal
/// then is one cell. Refuses more combinations than max_cells before making any, and cells that contradict themselves.
Result<std::vector<CampaignCell>> expand(const Campaign& campaign);

/// Says by which clock the testbed goes: into every cell's parameters, and so its id; at the default, host, nothing
/// changes. Cells of different clocks are different cells. Throws std::invalid_argument on what is no clock.
void set_clock(std::vector<CampaignCell>& cells, std::string_view clock);

/// The cell's parameters that the workload is given: its own, without common and impairment axes.
Parameters workload_parameters(const Campaign& campaign, const CampaignCell& cell);

/// The path of this cell, or of one that it is compared with, changes with time (axis `schedule`): how long a window
/// lasts says then what it meets.
bool changes_with_time(const Campaign& campaign, const CampaignCell& cell);

/// "rdma rxe write 64B" - what tells this cell from the others, for people: the workload where there are several, then
/// axes in `specs` order, defaults and what is fixed left out.
std::string describe(const Campaign& campaign, const CampaignCell& cell);

}  // namespace longhaul::orchestrator
