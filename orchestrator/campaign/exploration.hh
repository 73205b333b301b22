// An exploration: each cell of a campaign once as it is, and once for every packet that it sends, with a fault of that
// packet. Its plan is a campaign of its own, as text, so that it can be run, resumed and verified as any other. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/campaign/cells.hh"

namespace longhaul::orchestrator {

struct ExplorationRule {
  std::string fault = "drop";  ///< of a packet: "drop", "swap", "duplicate", "delay by 5ms"
  std::uint64_t most = 500;    ///< packets of a cell and a way that are tried, the first ones
  std::size_t pairs = 0;       ///< pairs of packets, drawn at random, that are tried beside the single ones
  std::uint64_t seed = 1;      ///< of the pairs
};

/// The campaign with which the packets of each cell are counted: its cells on an engine that has the faults of `rule`.
/// Refuses cells that cross no emulated path, and those that ask for faults themselves.
Result<std::string> counting_text(const Campaign& campaign, const std::vector<CampaignCell>& cells,
                                  const ExplorationRule& rule);

/// Packets of one run of a cell, each way, as they were counted.
struct PacketCount {
  std::uint64_t forward = 0;
  std::uint64_t back = 0;
};

/// The whole campaign. `counts` are those of the cells, in their order. Refuses a fault that cannot be read.
Result<std::string> exploration_text(const Campaign& campaign, const std::vector<CampaignCell>& cells,
                                     const std::vector<PacketCount>& counts, const ExplorationRule& rule);

}  // namespace longhaul::orchestrator
