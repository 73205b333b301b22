// The interface of eviction policies. They choose which regions go when room is needed. Policies are single-threaded
// and know nothing of verbs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "registration/cache/pages.hh"

namespace longhaul::registration {

/// A cached region: dense, used again after the region has gone.
using RegionId = std::uint32_t;
inline constexpr RegionId kNoRegion = ~RegionId{0};

/// The regions that are cached, as policies see them.
class Regions {
 public:
  struct Region {
    std::uint64_t first = 0;
    std::uint32_t count = 0;       ///< pages; 0: the id is free
    std::uint32_t users : 31 = 0;  ///< transfers under way; such a region is never evicted
    std::uint32_t broken : 1 = 0;  ///< invalidated while in use: no request finds it, the policy knows it no more
  };
  Pages pages(RegionId id) const { return {all_[id].first, all_[id].count}; }
  bool in_use(RegionId id) const { return all_[id].users > 0; }
  std::size_t ids() const { return all_.size(); }

 protected:
  std::vector<Region> all_;
};

class Policy {
 public:
  virtual ~Policy() = default;

  /// A region has been registered, as the newest.
  virtual void inserted(RegionId id) = 0;
  /// A request uses it.
  virtual void touched(RegionId id) = 0;
  /// It has gone: evicted as chosen, or invalidated.
  virtual void removed(RegionId id) = 0;
  /// Appends regions, none of them in use, whose pages are `needed` or more in sum (fewer where there are no others).
  virtual void choose(std::uint64_t needed, std::vector<RegionId>& victims) = 0;

 protected:
  explicit Policy(const Regions& regions) : regions_(regions) {}
  const Regions& regions_;
};

}  // namespace longhaul::registration
