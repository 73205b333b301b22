#include "registration/policies/s3_fifo.hh"

#include <algorithm>

namespace longhaul::registration {

constexpr std::uint8_t kMostUses = 3;

S3Fifo::S3Fifo(const Regions& regions, Capacity capacity, double small)
    : Policy(regions),
      capacity_(capacity.pages),
      small_(static_cast<std::uint64_t>(small * static_cast<double>(capacity.pages))) {}

void S3Fifo::inserted(RegionId id) {
  if (states_.size() <= id) states_.resize(id + 1);
  const auto pages = regions_.pages(id);
  const bool known = known_ghosts_.contains(pages.first);
  states_[id] = {.uses = 0, .main = known, .chosen = false};
  (known ? main_ : newcomers_).push(id);
  (known ? main_pages_ : small_pages_) += pages.count;
}

void S3Fifo::touched(RegionId id) {
  auto& uses = states_[id].uses;
  uses = std::min<std::uint8_t>(kMostUses, static_cast<std::uint8_t>(uses + 1));
}

void S3Fifo::removed(RegionId id) {
  const auto pages = regions_.pages(id).count;
  if (states_[id].main) {
    main_.remove(id);
    main_pages_ -= pages;
  } else {
    newcomers_.remove(id);
    small_pages_ -= pages;
  }
}

void S3Fifo::remember(Pages pages) {
  if (!known_ghosts_.insert(pages.first).second) return;
  ghosts_.push_back(pages);
  ghost_pages_ += pages.count;
  while (ghost_pages_ > capacity_) {
    ghost_pages_ -= ghosts_.front().count;
    known_ghosts_.erase(ghosts_.front().first);
    ghosts_.pop_front();
  }
}

void S3Fifo::promote(RegionId id) {
  const auto pages = regions_.pages(id).count;
  newcomers_.remove(id);
  small_pages_ -= pages;
  main_.push(id);
  main_pages_ += pages;
  states_[id].main = true;
  states_[id].uses = 0;
}

void S3Fifo::choose(std::uint64_t needed, std::vector<RegionId>& victims) {
  std::uint64_t found = 0;
  auto small_left = small_pages_;
  auto newcomer = newcomers_.bottom();
  auto old = main_.bottom();
  while (found < needed && (newcomer != kNoRegion || old != kNoRegion)) {
    if (newcomer != kNoRegion && (small_left > small_ || old == kNoRegion)) {
      const auto id = newcomer;
      newcomer = newcomers_.above(id);
      if (regions_.in_use(id)) continue;
      const auto pages = regions_.pages(id);
      small_left -= pages.count;
      if (states_[id].uses > 1) {
        promote(id);
        if (old == kNoRegion) old = id;
        continue;
      }
      remember(pages);
      victims.push_back(id);
      found += pages.count;
      continue;
    }
    if (old == kNoRegion) break;
    const auto id = old;
    old = main_.above(id);
    if (regions_.in_use(id)) continue;
    if (states_[id].uses > 0) {  // again from the top, with one use less
      --states_[id].uses;
      main_.raise(id);
      if (old == kNoRegion) old = id;
      continue;
    }
    victims.push_back(id);
    found += regions_.pages(id).count;
  }
}

}  // namespace longhaul::registration
