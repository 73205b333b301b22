// Two records of the same run, bit by bit. Pure.
#pragma once

#include <string>

#include "model/record.hh"

namespace longhaul::results {

/// The first difference between two records, as "nodes.client.metrics.latency.value: 32 and 33"; empty: they are the
/// same. What the orchestrator adds about nodes (facts) does not count.
std::string first_difference(const RunRecord& first, const RunRecord& second);

}  // namespace longhaul::results
