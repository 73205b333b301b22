// Claims against a campaign.
#pragma once

#include <string>
#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

/// A claim and what each RDMA provider's cells say about it; no finding: the campaign has no cells for it.
struct Checked {
  const Claim* claim = nullptr;
  std::vector<Finding> findings;
};

/// The error of a verdict (judge.hh): said wherever verdicts are.
inline constexpr const char* kVerdictError =
    "A verdict errs in at most 5 % of campaigns, however many places it rests on: what must be so everywhere is shown "
    "by "
    "95 % intervals, what refutes a claim somewhere by intervals that hold all at once in 95 %.";

std::vector<Checked> check_claims(const Summary& summary, const Vocabulary& vocabulary,
                                  const std::vector<Claim>& claims);

/// The JSON of DIR/claims.json and `longhaul claims --json`.
std::string to_json(const std::vector<Checked>& checked, const Summary& summary);
/// For the terminal. Pure.
std::string to_text(const std::vector<Checked>& checked, const Summary& summary);

}  // namespace longhaul::results
