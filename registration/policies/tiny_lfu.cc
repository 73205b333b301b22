#include "registration/policies/tiny_lfu.hh"

#include <algorithm>
#include <bit>
#include <utility>

namespace longhaul::registration {
namespace {

constexpr unsigned kRows = 4;
constexpr std::uint64_t kCountersByEntry = 8;
constexpr std::uint64_t kPeriodByEntry = 10;  // the paper's sample size
constexpr std::uint64_t kPagesByRegion = 8;   // a guess; the sketch only grows coarser where it is wrong

}  // namespace

FrequencySketch::FrequencySketch(std::uint64_t entries)
    : counters_(std::bit_ceil(std::max<std::uint64_t>(64, entries * kCountersByEntry))),
      mask_(counters_.size() - 1),
      period_(std::max<std::uint64_t>(64, entries) * kPeriodByEntry) {}

std::size_t FrequencySketch::slot(std::uint64_t what, unsigned row) const {
  constexpr std::uint64_t kSeeds[kRows] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb,
                                           0xd6e8feb86659fd93};
  auto hash = (what + row) * kSeeds[row];
  hash ^= hash >> 32;
  return static_cast<std::size_t>((hash * kSeeds[(row + 1) % kRows] >> 20) & mask_);
}

void FrequencySketch::count(std::uint64_t what) {
  for (unsigned row = 0; row < kRows; ++row) {
    auto& counter = counters_[slot(what, row)];
    if (counter < kMost) ++counter;
  }
  if (++counted_ < period_) return;
  counted_ /= 2;
  for (auto& counter : counters_) counter /= 2;
}

unsigned FrequencySketch::estimate(std::uint64_t what) const {
  unsigned least = kMost;
  for (unsigned row = 0; row < kRows; ++row) least = std::min<unsigned>(least, counters_[slot(what, row)]);
  return least;
}

TinyLfu::TinyLfu(const Regions& regions, Capacity capacity, double window, double protected_share)
    : Policy(regions),
      window_(static_cast<std::uint64_t>(window * static_cast<double>(capacity.pages))),
      protection_(static_cast<std::uint64_t>(protected_share * (1 - window) * static_cast<double>(capacity.pages))),
      sketch_(capacity.pages / kPagesByRegion) {}

void TinyLfu::move(RegionId id, Part to) {
  const auto count = regions_.pages(id).count;
  stack(parts_[id]).remove(id);
  pages(parts_[id]) -= count;
  parts_[id] = to;
  stack(to).push(id);
  pages(to) += count;
}

void TinyLfu::inserted(RegionId id) {
  if (parts_.size() <= id) parts_.resize(id + 1);
  const auto asked = regions_.pages(id);
  sketch_.count(asked.first);
  parts_[id] = Part::window;
  stack(Part::window).push(id);
  pages(Part::window) += asked.count;
  while (pages(Part::window) > window_ && stack(Part::window).bottom() != id)
    move(stack(Part::window).bottom(), Part::trial);
}

void TinyLfu::touched(RegionId id) {
  sketch_.count(regions_.pages(id).first);
  if (parts_[id] == Part::window || parts_[id] == Part::protection) {
    stack(parts_[id]).raise(id);
    return;
  }
  move(id, Part::protection);
  while (pages(Part::protection) > protection_ && stack(Part::protection).bottom() != id)
    move(stack(Part::protection).bottom(), Part::probation);
}

void TinyLfu::removed(RegionId id) {
  stack(parts_[id]).remove(id);
  pages(parts_[id]) -= regions_.pages(id).count;
}

// The region that left the window last competes with the one that the main part used longest ago: the rarer goes.
void TinyLfu::choose(std::uint64_t needed, std::vector<RegionId>& victims) {
  // There was room for those before it.
  while (stack(Part::trial).bottom() != stack(Part::trial).top()) move(stack(Part::trial).bottom(), Part::probation);
  const auto unused = [&](RegionId id, Part part) {
    while (id != kNoRegion && regions_.in_use(id)) id = stack(part).above(id);
    return id;
  };
  const auto often = [&](RegionId id) { return sketch_.estimate(regions_.pages(id).first); };
  std::uint64_t found = 0;
  const auto take = [&](RegionId id) {
    victims.push_back(id);
    found += regions_.pages(id).count;
  };
  auto candidate = unused(stack(Part::trial).bottom(), Part::trial);
  constexpr Part kOrder[] = {Part::probation, Part::protection, Part::window};
  for (const auto part : kOrder) {
    auto victim = unused(stack(part).bottom(), part);
    while (found < needed && victim != kNoRegion) {
      if (candidate != kNoRegion && often(candidate) <= often(victim)) {
        take(std::exchange(candidate, kNoRegion));
        continue;
      }
      if (candidate != kNoRegion) {
        if (part == Part::probation) move(candidate, Part::probation);  // it wins its place
        candidate = kNoRegion;
      }
      const auto above = unused(stack(part).above(victim), part);
      take(victim);
      victim = above;
    }
  }
  if (found < needed && candidate != kNoRegion) take(candidate);
}

}  // namespace longhaul::registration
