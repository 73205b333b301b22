// How the kinds of cells changed from one campaign to another: what a person asks of a comparison first. Pure.
#pragma once

#include <string>
#include <vector>

#include "results/analyses/compare/compare.hh"

namespace longhaul::results {

/// All cells of a workload on one side ("rdma over rxe"), by the workload's first metric.
struct Change {
  std::string workload;
  std::string side;
  std::string metric;
  int cells = 0;  ///< that have a ratio
  int more = 0;   ///< of them the second is larger, by an interval that does not contain 1
  int less = 0;
  int undecided = 0;  ///< too few runs to say
  double median = 0;  ///< of the cells' ratios second / first; low, high: the least and the largest
  double low = 0;
  double high = 0;
};

/// In the order of the figures. Kinds without a ratio are left out.
std::vector<Change> changes(const Comparison& comparison);

/// "latency", "transfer time": its workload and metric, which may be called alike.
std::string name_of(const Change& change);

/// "latency over rxe: 1.034 of the first in the median of 42 cells ...", a line each.
std::string to_text(const std::vector<Change>& changes);

}  // namespace longhaul::results
