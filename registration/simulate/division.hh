// A simulation in shares that need nothing of each other, and the whole from what they found. Pure.
#pragma once

#include <vector>

#include "common/result.hh"
#include "common/share.hh"
#include "registration/simulate/document.hh"

namespace longhaul::registration {

/// A trace at some of the capacities.
struct Part {
  std::size_t trace = 0;
  std::size_t first = 0;  ///< of the capacities, in their order
  std::size_t count = 0;

  bool operator==(const Part&) const = default;
};

/// What a share simulates, in order: each trace at each capacity is in one share. A share's are neighbours, so that few
/// traces are read by several. Empty: there are more shares than work.
std::vector<Part> parts_of(std::size_t traces, std::size_t capacities, Share share);

/// What one process that simulates all of it finds, row by row, from what each share found. `all`: the whole's options.
/// Refuses shares of another simulation.
Result<std::vector<SimulatedTrace>> join_shares(const std::vector<std::vector<SimulatedTrace>>& shares,
                                                std::size_t traces, const SweepOptions& all,
                                                const std::vector<CostProfile>& profiles);

}  // namespace longhaul::registration
