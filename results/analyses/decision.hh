// Which way of a workload's to take for a size and a delay: all that were measured there, the best first. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

struct Choice {
  const CellSummary* cell = nullptr;
  std::string name;      ///< "frrwp, mrrc", "sockets"
  double value = 0;      ///< median of the metric, in its base unit
  bool as_good = false;  ///< the interval of its ratio to the first contains 1 (or there are too few runs for one)
};

/// One place of the map.
struct Decision {
  std::string workload;
  std::string provider;
  std::map<std::string, std::string> task;  ///< what is to be done: "direction": "write"
  std::int64_t size = 0;
  std::int64_t delay = 0;
  std::vector<Choice> choices;  ///< the best first; at least two
};

/// Of transfers (the time until the data is there) and of RPC (the time of a call), by provider, task, size and delay.
/// Transfers of applications that compute or sleep meanwhile are left out.
std::vector<Decision> decisions(const Summary& summary, const Vocabulary& vocabulary);

}  // namespace longhaul::results
