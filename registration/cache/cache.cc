#include "registration/cache/cache.hh"

#include <algorithm>

namespace longhaul::registration {

RegionCache::RegionCache(Capacity capacity, const MakePolicy& policy, CacheOptions options)
    : capacity_(capacity), options_(options), policy_(policy(*this, capacity)) {}

const RegistrationPlan& RegionCache::request(Pages asked) {
  plan_.covered.clear();
  plan_.gaps.clear();
  plan_.evicted.clear();
  plan_.kept = true;
  // The usual case: it begins where a region does and is no longer than that.
  if (const auto id = find(asked); id != kNoRegion) {
    plan_.coverage = all_[id].count == asked.count ? Coverage::exact : Coverage::subset;
    plan_.covered.push_back(id);
    ++all_[id].users;
    policy_->touched(id);
    return plan_;
  }
  by_address_.touching(asked, plan_.covered);
  auto at = asked.first;
  for (const auto id : plan_.covered) {
    const auto region = pages(id);
    if (region.first > at) plan_.gaps.push_back({at, region.first - at});
    at = region.end();
  }
  if (at < asked.end()) plan_.gaps.push_back({at, asked.end() - at});
  evicted_.clear();
  if (options_.overlap != Overlap::fill && !plan_.gaps.empty() && !plan_.covered.empty()) clear_way(asked);
  for (const auto id : plan_.covered) {
    ++all_[id].users;
    policy_->touched(id);
  }
  if (plan_.gaps.empty()) {
    plan_.coverage = plan_.covered.size() == 1 ? Coverage::subset : Coverage::several;
    return plan_;
  }
  plan_.coverage = plan_.covered.empty() && evicted_.empty() ? Coverage::miss : Coverage::overlap;
  std::uint64_t missing = 0;
  for (const auto& gap : plan_.gaps) missing += gap.count;
  if (asked.count > capacity_.pages) {
    plan_.kept = false;
  } else {
    const auto regions = options_.granularity == Granularity::page ? missing : plan_.gaps.size();
    make_room(missing, regions);
    // Else all the rest is in use.
    plan_.kept = used_ + missing <= capacity_.pages && by_address_.size() + regions <= capacity_.regions;
  }
  std::swap(plan_.evicted, evicted_);
  return plan_;
}

// Takes the regions that overlap the request away, so that one over all of it can be registered. Where one of them is
// in use they stay, and with them the gaps.
void RegionCache::clear_way(Pages asked) {
  for (const auto id : plan_.covered)
    if (all_[id].users > 0) return;
  auto first = asked.first;
  auto end = asked.end();
  if (options_.overlap == Overlap::merge) {
    first = std::min(first, pages(plan_.covered.front()).first);
    end = std::max(end, pages(plan_.covered.back()).end());
  }
  for (const auto id : plan_.covered) forget(id);
  plan_.covered.clear();
  plan_.gaps.assign(1, {first, end - first});
}

void RegionCache::make_room(std::uint64_t pages, std::uint64_t regions) {
  while (used_ + pages > capacity_.pages || by_address_.size() + regions > capacity_.regions) {
    const auto excess = used_ + pages > capacity_.pages ? used_ + pages - capacity_.pages : 1;
    victims_.clear();
    policy_->choose(excess, victims_);
    if (victims_.empty()) return;
    for (const auto id : victims_) forget(id);
  }
}

// No request finds it any more.
void RegionCache::unlist(RegionId id) {
  const auto& region = all_[id];
  policy_->removed(id);
  by_address_.erase(id);
  used_ -= region.count;
}

void RegionCache::forget(RegionId id) {
  unlist(id);
  bury(id);
}

RegionId RegionCache::fresh(Pages pages) {
  RegionId id = 0;
  if (free_.empty()) {
    id = static_cast<RegionId>(all_.size());
    all_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  all_[id] = {pages.first, static_cast<std::uint32_t>(pages.count), 1, 0};
  by_address_.insert(id);
  used_ += pages.count;
  policy_->inserted(id);
  return id;
}

void RegionCache::add(Pages gap, std::vector<RegionId>& leased) {
  const auto step = options_.granularity == Granularity::region ? gap.count : 1;
  for (auto first = gap.first; first < gap.end(); first += step) leased.push_back(fresh({first, step}));
}

const std::vector<Eviction>& RegionCache::release(std::span<const RegionId> leased) {
  evicted_.clear();
  for (const auto id : leased) {
    if (--all_[id].users > 0 || all_[id].broken == 0) continue;
    std::erase(broken_, id);
    bury(id);
  }
  return evicted_;
}

const std::vector<Eviction>& RegionCache::reap() {
  evicted_.clear();
  std::erase_if(broken_, [this](RegionId id) {
    if (in_use(id)) return false;
    bury(id);
    return true;
  });
  return evicted_;
}

void RegionCache::bury(RegionId id) {
  evicted_.push_back({id, pages(id)});
  all_[id] = {};
  free_.push_back(id);
}

void RegionCache::touch(RegionId id) {
  if (all_[id].count > 0 && all_[id].broken == 0) policy_->touched(id);
}

const std::vector<Eviction>& RegionCache::evict(std::uint64_t pages) {
  evicted_.clear();
  victims_.clear();
  policy_->choose(pages, victims_);
  for (const auto id : victims_) forget(id);
  return evicted_;
}

const std::vector<Eviction>& RegionCache::invalidate(Pages gone) {
  evicted_.clear();
  victims_.clear();
  by_address_.touching(gone, victims_);
  for (const auto id : victims_) {
    if (!in_use(id)) {
      forget(id);
      continue;
    }
    unlist(id);
    all_[id].broken = 1;
    broken_.push_back(id);
  }
  return evicted_;
}

}  // namespace longhaul::registration
