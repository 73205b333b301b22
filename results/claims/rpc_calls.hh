// What the claims on RPC over RDMA share: whose cells belong together, and how a finding is said.
#pragma once

#include <string>
#include <vector>

#include "results/claims/judge.hh"

namespace longhaul::results {

inline constexpr const char* kPaper = "Designing NFS with RDMA (2007), ";

inline std::string by_path(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  return fmt::format("{}, {}, {}", cell.provider, spelt("delay"), spelt("size"));
}

// What does not fit into a message: the designs are the same for what does.
inline bool moves_by_chunks(const Parameters& parameters, const char* procedure) {
  return is(parameters, "transport", "rdma") && is(parameters, "procedure", procedure) &&
         integer_of(parameters, "size") > integer_of(parameters, "inline");
}

inline bool long_read(const Parameters& parameters) {
  return moves_by_chunks(parameters, "read");
}

inline bool long_write(const Parameters& parameters) {
  return moves_by_chunks(parameters, "write");
}

inline std::string said(const std::vector<Evidence>& evidence) {
  std::string text;
  for (const auto& one : evidence)
    text += fmt::format("{}{:.3g} at {}", text.empty() ? "" : ", ", one.ratio.value, one.at);
  return text;
}

}  // namespace longhaul::results
