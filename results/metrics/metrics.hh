// Chooses the node whose figure is the run's, and pools distributions. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/record.hh"

namespace longhaul::results {

/// A metric of a run. The client's figure counts; where no client has it, the local process's, then the server's.
/// Several nodes of that role: their distributions pooled, or the median of their values where one has none.
struct RunMetric {
  double value = 0;
  std::uint64_t samples = 0;
  std::optional<Histogram> distribution;
};

/// By metric name. A damaged histogram is an error that names the run and the node.
Result<std::map<std::string, RunMetric>> run_metrics(const RunRecord& run);

}  // namespace longhaul::results
