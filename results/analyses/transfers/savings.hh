// Measured and predicted savings of a transfer's critical path against the typical process. Pure.
#pragma once

#include <optional>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

struct Saving {
  const CellSummary* cell = nullptr;
  const CellSummary* typical = nullptr;  ///< all else equal; null: its transfers were paired with typical ones
  Ratio ratio;                           ///< its critical path / the typical one's
  double saved = 0;                      ///< ns
  std::optional<Interval> interval;      ///< of that
  /// By the phases of the typical process (paired: of the cell itself): what the same registrations and messages take
  /// in either order, ns.
  std::optional<double> predicted;

  /// The prediction is more than the measurement can blur: there must be a saving.
  bool due() const;
};

/// True if a cell and another differ in nothing but that the other is by the typical process.
bool beside_typical(const CellSummary& cell, const CellSummary& other);

/// Empty where one of them has no critical path.
std::optional<Saving> saving_of(const CellSummary& cell, const CellSummary& typical);

/// Of a cell whose transfers were paired with typical ones; empty where they were not.
std::optional<Saving> saving_of_pairs(const CellSummary& cell);

/// In the order of the cells: by pairs where there are some, else beside a typical cell.
std::vector<Saving> savings(const Summary& summary);

}  // namespace longhaul::results
