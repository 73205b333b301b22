// By which clock the figures of a campaign were taken, and what follows from it. Pure.
#pragma once

#include <string>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// "host", "virtual", or "both" where cells of both are in one directory (they are never pooled).
std::string clock_of(const Summary& summary);

/// The limits of a virtual clock: said wherever its figures are.
inline constexpr const char* kVirtualClockLimits =
    "measured by a virtual clock: a fixed cost per instruction, no caches, no memory bandwidth: rankings and "
    "crossovers of "
    "software stacks, no times of a network";

/// True if emulated processors were timed by the host's clock: then noise is the emulator's, and tolerances are wider.
bool noisy(const CellSummary& cell);

}  // namespace longhaul::results
