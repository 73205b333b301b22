// The expected headline of a cell, by theory and by measurements without delay. Pure.
#pragma once

#include <optional>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// For a time: that of the cell's twin without delay, measured, and what the spec's prediction says that the achieved
/// delay adds (a rendezvous' trips, a fetch's round trip). For a throughput its ceiling. For others the prediction
/// alone. Empty where the cell has no delay, its twin was not measured, or nothing is predicted.
std::optional<double> expected_headline(const CellSummary& cell, const std::vector<CellSummary>& cells,
                                        const Vocabulary& vocabulary);

}  // namespace longhaul::results
