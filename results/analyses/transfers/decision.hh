// The best protocol and strategy for a size and a delay: all that were measured there, the fastest first. Pure.
#pragma once

#include <string>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

struct Choice {
  const CellSummary* cell = nullptr;
  std::string name;      ///< "frrwp, mrrc", "sockets"
  double transfer = 0;   ///< median, ns
  bool as_good = false;  ///< the interval of its ratio to the first contains 1 (or there are too few runs for one)
};

/// One place of the map.
struct Decision {
  std::string provider;
  std::string direction;
  std::string buffers;  ///< "same", or where the sizes come from
  std::int64_t size = 0;
  std::int64_t delay = 0;
  std::vector<Choice> choices;  ///< the fastest first; at least two
};

/// By provider, direction, buffers, size and delay. Applications that compute or sleep meanwhile are left out.
std::vector<Decision> decisions(const Summary& summary, const Vocabulary& vocabulary);

}  // namespace longhaul::results
