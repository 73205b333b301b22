// GreedyDual-Size (Cao and Irani, 1997) and with frequency (GDSF, Cherkasova 1998): a region is worth what its
// registration costs by page, times how often it was used, on top of the worth of what went last.
#pragma once

#include <functional>
#include <set>

#include "registration/cache/cache.hh"

namespace longhaul::registration {

class GreedyDual : public Policy {
 public:
  /// `cost`: of registering a region of so many pages; constant makes for hits, the real one for time saved.
  GreedyDual(const Regions& regions, std::function<double(std::uint64_t pages)> cost, bool frequency);
  void inserted(RegionId id) override;
  void touched(RegionId id) override;
  void removed(RegionId id) override;
  void choose(std::uint64_t needed, std::vector<RegionId>& victims) override;

 private:
  struct Worth {
    double value = 0;
    std::uint64_t turn = 0;  // among equals the one used longest ago goes first
    double uses = 0;
  };
  using Key = std::tuple<double, std::uint64_t, RegionId>;
  Key key(RegionId id) const { return {worths_[id].value, worths_[id].turn, id}; }
  void enqueue(RegionId id);

  std::function<double(std::uint64_t)> cost_;
  bool frequency_;
  double inflation_ = 0;
  std::uint64_t turn_ = 0;
  std::vector<Worth> worths_;
  std::set<Key> queue_;
};

}  // namespace longhaul::registration
