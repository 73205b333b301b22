// One policy at one capacity fed with requests: what hits, and what registering costs.
#pragma once

#include "registration/cache/cache.hh"
#include "registration/cache/cost.hh"

namespace longhaul::registration {

/// Everything a cost follows from, so that profiles can be applied afterwards.
struct Tally {
  std::uint64_t requests = 0;
  std::uint64_t pages = 0;  ///< asked for
  std::uint64_t hits = 0;
  std::uint64_t overlaps = 0;
  std::uint64_t registrations = 0;
  std::uint64_t registered_pages = 0;
  std::uint64_t deregistrations = 0;
  std::uint64_t deregistered_pages = 0;
  std::uint64_t batches = 0;  ///< evictions, however many regions went

  double hit_ratio() const { return requests == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(requests); }
};

/// us; `batched`: each batch is one call (PAPERS.md, reading 7), else each region is one.
double cost(const Tally& tally, const CostProfile& profile, bool batched);
/// us, where every request is registered and deregistered.
double cost_without_cache(const Tally& tally, const CostProfile& profile);

class Simulation {
 public:
  /// Without a policy nothing is cached.
  Simulation(Capacity capacity, const RegionCache::MakePolicy& policy, CacheOptions options)
      : cache_(policy ? std::make_unique<RegionCache>(capacity, policy, options) : nullptr) {}
  void feed(const std::vector<Pages>& requests);
  const Tally& tally() const { return tally_; }

 private:
  std::unique_ptr<RegionCache> cache_;
  std::vector<RegionId> leased_;
  Tally tally_;
};

}  // namespace longhaul::registration
