// A campaign and what follows from it, computed once: whatever shows it takes this.
#pragma once

#include <string>
#include <vector>

#include "results/claims/check.hh"
#include "results/summary/comparison.hh"

namespace longhaul::results {

struct Analysis {
  Summary summary;
  Vocabulary vocabulary;
  std::vector<Pairing> pairings;
  std::vector<Checked> claims;
};

/// Pure.
Analysis analyse(Summary summary, Vocabulary vocabulary);

/// Of DIR/results.db, also of an unfinished campaign.
Result<Analysis> analyse_directory(const std::string& directory, const Vocabulary& vocabulary);

}  // namespace longhaul::results
