// Ours: what a region is expected to save, by page that it takes and by time. How often it is asked for is counted with
// decay (as LRFU does, Lee and others 2001), and the count outlives its eviction: what comes back is no newcomer. What
// saves least goes first, a batch at a time.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <set>

#include "registration/cache/cache.hh"

namespace longhaul::registration {

struct RateOptions {
  double half_life = 32;  ///< of a count, in requests, as a multiple of how many regions are cached
  double memory = 8;      ///< counts that are remembered of what has gone, as the same multiple
  double batch = 0.03;    ///< of the capacity goes at a time, at least
  double time = 0.5;      ///< 1: what counts is time saved; 0: hits; between: its power
};

class Rate : public Policy {
 public:
  /// `cost`: of registering and deregistering a region of so many pages.
  Rate(const Regions& regions, Capacity capacity, std::function<double(std::uint64_t pages)> cost, RateOptions options);
  void inserted(RegionId id) override;
  void touched(RegionId id) override;
  void removed(RegionId id) override;
  void choose(std::uint64_t needed, std::vector<RegionId>& victims) override;

 private:
  struct Count {
    double value = 0;  // at `when`
    std::uint64_t when = 0;
  };
  struct State {
    Count count;
    double worth = 0;
  };
  using Key = std::pair<double, RegionId>;
  // Of regions that have gone, by first page: the younger half and the older.
  using Ghosts = boost::unordered_flat_map<std::uint64_t, Count>;

  double decayed(const Count& count) const;
  double worth(const Count& count, std::uint64_t pages) const;
  void asked(RegionId id, Count count);
  Count recall(std::uint64_t first);
  void remember(std::uint64_t first, const Count& count);
  void follow_size();

  std::function<double(std::uint64_t)> cost_;
  RateOptions options_;
  std::uint64_t batch_;
  std::uint64_t now_ = 0;
  double half_life_;  // requests
  std::vector<State> states_;
  std::set<Key> queue_;
  Ghosts young_;
  Ghosts old_;
};

}  // namespace longhaul::registration
