// simulate.json: all that the page of a simulation shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "registration/simulate/rows.hh"

namespace longhaul::registration {

struct SimulatedTrace {
  std::string name;  ///< the file's, or what generated it
  std::uint64_t requests = 0;
  std::uint64_t pages = 0;
  std::uint64_t skipped = 0;
  LengthSummary lengths;  ///< of its requests
  double sample = 0;      ///< the share of memory in each sample; 0: all was simulated
  bool bounded = false;   ///< its requests are objects: there are rows of bounds
  std::vector<Row> rows;
};

std::string document_of(const std::vector<SimulatedTrace>& traces, const std::vector<Strategy>& strategies,
                        const std::vector<CostProfile>& profiles);

/// The traces of such a document, to the last bit. Refuses one of another build of longhaul, whose figures may be
/// others.
Result<std::vector<SimulatedTrace>> traces_of(std::string_view document);

}  // namespace longhaul::registration
