// Regions by their first page: a hash table of ids alone, since the regions themselves say what their first page is.
// Open addressing with linear probing, at most a quarter full; what is erased leaves no mark (Knuth 6.4, algorithm R).
#pragma once

#include <bit>
#include <utility>
#include <vector>

#include "registration/cache/policy.hh"

namespace longhaul::registration {

class FirstPages {
 public:
  explicit FirstPages(const std::vector<Regions::Region>& regions) : regions_(regions), slots_(kLeast, kNoRegion) {}

  /// kNoRegion: none begins there.
  RegionId find(std::uint64_t first) const {
    for (auto at = home(first);; at = next(at)) {
      const auto id = slots_[at];
      if (id == kNoRegion || regions_[id].first == first) return id;
    }
  }

  /// None begins there yet.
  void insert(RegionId id) {
    if (4 * ++used_ > slots_.size()) grow();
    place(id);
  }

  /// One does.
  void erase(std::uint64_t first) {
    auto hole = home(first);
    while (regions_[slots_[hole]].first != first) hole = next(hole);
    --used_;
    for (auto at = next(hole); slots_[at] != kNoRegion; at = next(at)) {
      // It may move up where its way from home leads over the hole.
      const auto away = (at - home(regions_[slots_[at]].first)) & (slots_.size() - 1);
      if (away < ((at - hole) & (slots_.size() - 1))) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = kNoRegion;
  }

 private:
  static constexpr std::size_t kLeast = 64;  // a power of two

  std::size_t home(std::uint64_t first) const { return static_cast<std::size_t>(first * 0x9e3779b97f4a7c15 >> shift_); }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  void place(RegionId id) {
    auto at = home(regions_[id].first);
    while (slots_[at] != kNoRegion) at = next(at);
    slots_[at] = id;
  }
  void grow() {
    const auto old = std::exchange(slots_, std::vector<RegionId>(2 * slots_.size(), kNoRegion));
    --shift_;
    for (const auto id : old)
      if (id != kNoRegion) place(id);
  }

  const std::vector<Regions::Region>& regions_;
  std::vector<RegionId> slots_;
  unsigned shift_ = 64 - std::countr_zero(kLeast);
  std::size_t used_ = 0;
};

}  // namespace longhaul::registration
