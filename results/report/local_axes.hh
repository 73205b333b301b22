// Presentation of local cells: along their workload's own axis, a line for each combination of the axes that
// vary beside it. Pure.
#pragma once

#include <map>
#include <set>
#include <string>

#include "results/summary/summary.hh"

namespace longhaul::results {

class LocalAxes {
 public:
  /// Both must outlive this.
  LocalAxes(const Summary& summary, const Vocabulary& vocabulary);

  /// The difference between the cell's line and the others of its provider: "policy mrrc, cost mietke"; empty: none.
  std::string variant_of(const CellSummary& cell) const;
  /// Parameters common to the cells of all lines and not at their defaults, spelt.
  std::map<std::string, std::string> conditions_of(const CellSummary& cell) const;

 private:
  bool tells_apart(const std::string& workload, const std::string& name) const;

  const Vocabulary& vocabulary_;
  std::map<std::string, std::set<std::string>> varying_;  ///< by workload: axes with several values
};

/// The best and the worst cell of the first such workload by its headline, in a sentence; empty: none has a result.
std::string best_local(const Summary& summary, const Vocabulary& vocabulary);

}  // namespace longhaul::results
