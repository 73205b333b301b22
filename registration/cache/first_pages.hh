// Regions by their first page: a hash table of ids alone, since the regions themselves say what their first page is.
#pragma once

#include <vector>

#include "registration/cache/policy.hh"
#include "registration/cache/probing.hh"

namespace longhaul::registration {

class FirstPages {
 public:
  explicit FirstPages(const std::vector<Regions::Region>& regions) : table_({regions}, kSpare) {}

  /// kNoRegion: none begins there.
  RegionId find(std::uint64_t first) const { return table_.find(first); }
  /// None begins there yet.
  void insert(RegionId id) { table_.insert(id); }
  /// One does.
  void erase(std::uint64_t first) { table_.erase(first); }

 private:
  static constexpr std::size_t kSpare = 4;

  struct Keys {
    static constexpr RegionId kEmpty = kNoRegion;
    const std::vector<Regions::Region>& regions;
    bool empty(RegionId id) const { return id == kEmpty; }
    std::uint64_t key(RegionId id) const { return regions[id].first; }
  };
  ProbingTable<RegionId, Keys> table_;
};

}  // namespace longhaul::registration
