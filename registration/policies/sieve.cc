#include "registration/policies/sieve.hh"

namespace longhaul::registration {

void Sieve::inserted(RegionId id) {
  if (used_.size() <= id) used_.resize(id + 1);
  used_[id] = false;
  queue_.push(id);
}

void Sieve::removed(RegionId id) {
  if (hand_ == id) hand_ = queue_.above(id);
  queue_.remove(id);
}

void Sieve::choose(std::uint64_t needed, std::vector<RegionId>& victims) {
  std::uint64_t found = 0;
  // Two rounds visit all, once to strip the mark and once to take; more find nothing new.
  std::size_t steps = 2 * regions_.ids() + 2;
  auto hand = hand_;
  for (; steps > 0 && found < needed && !queue_.empty(); --steps) {
    if (hand == kNoRegion) {
      hand = queue_.bottom();
      if (!victims.empty()) break;  // the caller takes these off the queue before the next round
    }
    const auto id = hand;
    hand = queue_.above(id);
    if (regions_.in_use(id)) continue;
    if (used_[id]) {
      used_[id] = false;
      continue;
    }
    victims.push_back(id);
    found += regions_.pages(id).count;
  }
  hand_ = hand;
}

}  // namespace longhaul::registration
