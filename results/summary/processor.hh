// Processor time of a run's ends, as metrics of its cell. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// Whose processors: an end of the path, or the one node of a workload that runs by itself.
inline constexpr const char* kEnds[] = {"client", "server", "local"};

/// All that there is of any workload, in the order of the tables: "client_cpu", "client_cpu_user" ...
/// (docs/measuring.md). Shares are in per cent of one processor: 200 % is two of them busy all the time.
const std::vector<MetricSpec>& cpu_metrics();

/// One run's figures by name. What no record tells is not there; several nodes of a role are added up. `spec` says what
/// an operation is: the headline, where that is a time (each sample is one) or a rate of bits; nullptr: not known.
std::map<std::string, double> run_cpu(const RunRecord& run, const WorkloadSpec* spec);

/// Over a cell's usable runs, in the order of cpu_metrics(); each sample is a run's window.
std::vector<MetricSummary> summarise_cpu(const std::vector<const RunRecord*>& runs, const WorkloadSpec* spec);

}  // namespace longhaul::results
