#include "registration/policies/mrre.hh"

#include <algorithm>

namespace longhaul::registration {

Mrre::Mrre(const Regions& regions, Capacity capacity, Reading reading, double frequent, double eviction)
    : Policy(regions),
      reading_(reading),
      frequent_(static_cast<std::uint64_t>(frequent * static_cast<double>(capacity.pages))),
      eviction_(static_cast<std::uint64_t>(eviction * static_cast<double>(capacity.pages))) {}

void Mrre::inserted(RegionId id) {
  if (factors_.size() <= id) factors_.resize(id + 1);
  factors_[id] = 0;
  stack_.push(id);
}

void Mrre::touched(RegionId id) {
  factors_[id] = 0;
  stack_.raise(id);
}

void Mrre::choose(std::uint64_t needed, std::vector<RegionId>& victims) {
  // The resorting section: what lies below the frequently referenced part of the stack.
  resorting_.clear();
  std::uint64_t depth = 0;
  for (auto id = stack_.top(); id != kNoRegion; id = stack_.below(id)) {
    depth += regions_.pages(id).count;
    if (depth > frequent_ && !regions_.in_use(id)) resorting_.push_back(id);
  }
  // The figure sets r first, from the region at the bottom as it is; the text tells of r behind the factors.
  if (reading_ == Reading::figure && !resorting_.empty()) recency_ = std::max(recency_, factors_[resorting_.back()]);
  for (const auto id : resorting_)
    if (reading_ == Reading::figure || factors_[id] == 0)
      factors_[id] = recency_ + 1.0 / static_cast<double>(regions_.pages(id).count);
  // Highest on top; equals keep their order of recency.
  std::stable_sort(resorting_.begin(), resorting_.end(),
                   [this](RegionId a, RegionId b) { return factors_[a] > factors_[b]; });
  for (const auto id : resorting_) {
    stack_.remove(id);
    stack_.push_bottom(id);
  }
  needed = std::max(needed, eviction_);
  std::uint64_t found = 0;
  for (auto it = resorting_.rbegin(); it != resorting_.rend() && found < needed; ++it) {
    if (found == 0 && reading_ == Reading::text) recency_ = std::max(recency_, factors_[*it]);
    victims.push_back(*it);
    found += regions_.pages(*it).count;
  }
  // If that is not enough, the frequent part gives from its bottom.
  for (auto id = stack_.bottom(); id != kNoRegion && found < needed; id = stack_.above(id)) {
    if (regions_.in_use(id) || std::find(victims.begin(), victims.end(), id) != victims.end()) continue;
    victims.push_back(id);
    found += regions_.pages(id).count;
  }
}

}  // namespace longhaul::registration
