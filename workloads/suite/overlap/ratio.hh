// From what was timed to the figures that the paper, OSU and Sandia report. Pure.
#pragma once

#include <map>
#include <string>

#include "model/record.hh"

namespace longhaul::workloads::overlap {

/// overlap_ratio, overlap, availability (where it is defined) beside the three that were timed, ns. The ratios are of
/// medians, and the computation's is its own measured one: what the communication takes from it counts as
/// communication.
std::map<std::string, Metric> metrics_of(Metric total, Metric pure, Metric computation);

}  // namespace longhaul::workloads::overlap
