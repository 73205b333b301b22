#include "registration/policies/rate.hh"

#include <algorithm>
#include <cmath>

namespace longhaul::registration {
namespace {

constexpr double kFewestRegions = 16;
// A small cache deregisters so often that its batches have to hold some regions each, while that is not too much of it.
constexpr double kSmallBatch = 64;  // pages
constexpr double kMostBatch = 0.1;  // of the capacity

std::uint64_t batch_of(double share, std::uint64_t pages) {
  const auto all = static_cast<double>(pages);
  return static_cast<std::uint64_t>(std::max(share * all, std::min(kMostBatch * all, kSmallBatch)));
}

}  // namespace

Rate::Rate(const Regions& regions, Capacity capacity, std::function<double(std::uint64_t)> cost, RateOptions options)
    : Policy(regions),
      cost_(std::move(cost)),
      options_(options),
      batch_(batch_of(options.batch, capacity.pages)),
      half_life_(options.half_life * kFewestRegions) {}

double Rate::decayed(const Count& count) const {
  return count.value * std::exp2(-static_cast<double>(now_ - count.when) / half_life_);
}

// All counts decay alike: the order of what is written down here stays right as time goes on.
double Rate::worth(const Count& count, std::uint64_t pages) const {
  const auto saves = std::pow(cost_(pages), options_.time) / static_cast<double>(pages);
  return std::log2(count.value * saves) + static_cast<double>(count.when) / half_life_;
}

void Rate::asked(RegionId id, Count count) {
  auto& state = states_[id];
  state.count = {decayed(count) + 1, now_};
  state.worth = worth(state.count, regions_.pages(id).count);
  queue_.insert({state.worth, id});
}

// The half-life follows the number of regions, in steps of two: then every worth is reckoned anew.
void Rate::follow_size() {
  const auto wanted = options_.half_life * std::max(kFewestRegions, static_cast<double>(queue_.size()));
  if (wanted < 2 * half_life_ && wanted > half_life_ / 2) return;
  half_life_ = wanted;
  std::set<Key> queue;
  for (const auto& [old, id] : queue_) {
    states_[id].worth = worth(states_[id].count, regions_.pages(id).count);
    queue.insert({states_[id].worth, id});
  }
  queue_ = std::move(queue);
}

void Rate::inserted(RegionId id) {
  if (states_.size() <= id) states_.resize(id + 1);
  ++now_;
  asked(id, recall(regions_.pages(id).first));
  follow_size();
}

void Rate::touched(RegionId id) {
  ++now_;
  queue_.erase({states_[id].worth, id});
  asked(id, states_[id].count);
}

void Rate::removed(RegionId id) {
  queue_.erase({states_[id].worth, id});
  remember(regions_.pages(id).first, states_[id].count);
}

Rate::Count Rate::recall(std::uint64_t first) {
  for (auto* ghosts : {&young_, &old_}) {
    const auto it = ghosts->find(first);
    if (it == ghosts->end()) continue;
    const auto count = it->second;
    ghosts->erase(it);
    return count;
  }
  return {};
}

void Rate::remember(std::uint64_t first, const Count& count) {
  young_.insert_or_assign(first, count);
  if (static_cast<double>(young_.size()) <
      options_.memory / 2 * std::max<double>(kFewestRegions, static_cast<double>(queue_.size())))
    return;
  old_ = std::move(young_);
  young_.clear();
}

void Rate::choose(std::uint64_t needed, std::vector<RegionId>& victims) {
  needed = std::max(needed, batch_);
  std::uint64_t found = 0;
  for (auto it = queue_.begin(); it != queue_.end() && found < needed; ++it) {
    if (regions_.in_use(it->second)) continue;
    victims.push_back(it->second);
    found += regions_.pages(it->second).count;
  }
}

}  // namespace longhaul::registration
