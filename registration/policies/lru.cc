#include "registration/policies/lru.hh"

#include <algorithm>

namespace longhaul::registration {

Lru::Lru(const Regions& regions, Capacity capacity, double batch)
    : Policy(regions), batch_(static_cast<std::uint64_t>(batch * static_cast<double>(capacity.pages))) {}

void Lru::choose(std::uint64_t needed, std::vector<RegionId>& victims) {
  needed = std::max(needed, batch_);
  std::uint64_t found = 0;
  for (auto id = stack_.bottom(); id != kNoRegion && found < needed; id = stack_.above(id)) {
    if (regions_.in_use(id)) continue;
    victims.push_back(id);
    found += regions_.pages(id).count;
  }
}

}  // namespace longhaul::registration
