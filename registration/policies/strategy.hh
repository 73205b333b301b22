// Strategies by name: a policy, what it works on, how it deregisters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registration/cache/cache.hh"
#include "registration/cache/cost.hh"

namespace longhaul::registration {

struct Strategy {
  std::string name;  ///< as chosen, with the parameters that were given
  std::string help;
  RegionCache::MakePolicy policy;  ///< empty: nothing is cached
  CacheOptions options;
  bool batched = false;  ///< what goes together is deregistered in one call
  std::string weighs;    ///< the cost profile that it decides by; empty: it weighs no cost
};

/// "all", or names separated by commas, each with parameters behind it if wanted: "lru,mrrc:frequent=0.6:eviction=0.2".
/// One that weighs costs comes once for each profile. Refuses what there is not with the nearest, and values out of
/// range.
Result<std::vector<Strategy>> parse_strategies(std::string_view text, const std::vector<CostProfile>& profiles);

/// Every strategy with its parameters, a line each: for --help and --list.
std::string list_strategies();

}  // namespace longhaul::registration
