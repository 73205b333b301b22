#include "registration/policies/greedy_dual.hh"

#include <algorithm>

namespace longhaul::registration {

GreedyDual::GreedyDual(const Regions& regions, std::function<double(std::uint64_t)> cost, bool frequency)
    : Policy(regions), cost_(std::move(cost)), frequency_(frequency) {}

void GreedyDual::enqueue(RegionId id) {
  const auto pages = regions_.pages(id).count;
  auto& worth = worths_[id];
  worth.value = inflation_ + (frequency_ ? worth.uses : 1) * cost_(pages) / static_cast<double>(pages);
  worth.turn = ++turn_;
  queue_.insert(key(id));
}

void GreedyDual::inserted(RegionId id) {
  if (worths_.size() <= id) worths_.resize(id + 1);
  worths_[id] = {.uses = 1};
  enqueue(id);
}

void GreedyDual::touched(RegionId id) {
  queue_.erase(key(id));
  ++worths_[id].uses;
  enqueue(id);
}

void GreedyDual::removed(RegionId id) {
  queue_.erase(key(id));
}

void GreedyDual::choose(std::uint64_t needed, std::vector<RegionId>& victims) {
  std::uint64_t found = 0;
  for (auto it = queue_.begin(); it != queue_.end() && found < needed; ++it) {
    const auto id = std::get<RegionId>(*it);
    if (regions_.in_use(id)) continue;
    inflation_ = std::max(inflation_, std::get<0>(*it));
    victims.push_back(id);
    found += regions_.pages(id).count;
  }
}

}  // namespace longhaul::registration
