#include "results/summary/clock.hh"

#include <algorithm>

namespace longhaul::results {

std::string clock_of(const Summary& summary) {
  const auto is_virtual = [](const CellSummary& cell) { return cell.virtual_clock; };
  // Before anything was measured the plan tells.
  if (std::none_of(summary.cells.begin(), summary.cells.end(), is_virtual)) return kHostClock;
  return std::all_of(summary.cells.begin(), summary.cells.end(), is_virtual) ? kVirtualClock : "both";
}

bool noisy(const CellSummary& cell) {
  return cell.emulated && !cell.virtual_clock;
}

}  // namespace longhaul::results
