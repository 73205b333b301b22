#include "registration/policies/lhd.hh"

#include <algorithm>

namespace longhaul::registration {
namespace {

constexpr std::size_t kSample = 64;
constexpr std::uint64_t kLesson = 1 << 12;  // requests between two, at most
constexpr std::uint64_t kFirstLesson = 1 << 8;
constexpr double kMemory = 0.9;  // what a lesson leaves of the ones before

}  // namespace

Lhd::Lhd(const Regions& regions, Capacity) : Policy(regions), next_lesson_(kFirstLesson) {
  // Before anything is known all ages are alike: what goes is drawn, and some of the rest lives to teach.
  for (auto& one : classes_) one.density.fill(1);
}

std::size_t Lhd::age(const State& state) const {
  return static_cast<std::size_t>(std::min<std::uint64_t>((now_ - state.seen) / coarseness_, kAges - 1));
}

Lhd::Class& Lhd::class_of(const State& state) {
  return classes_[std::min<std::size_t>(state.uses, kClasses - 1)];
}

double Lhd::density(RegionId id) {
  const auto& state = states_[id];
  return class_of(state).density[age(state)] / static_cast<double>(regions_.pages(id).count);
}

void Lhd::tick() {
  if (++now_ < next_lesson_) return;
  next_lesson_ = now_ + std::min(now_, kLesson);
  learn();
}

// The density at an age: hits from there on, by the time that regions from there on take.
void Lhd::learn() {
  for (auto& one : classes_) {
    double hits = 0;
    double ends = 0;
    double time = 0;
    for (std::size_t i = kAges; i-- > 0;) {
      hits += one.hits[i];
      ends += one.hits[i] + one.gone[i];
      time += ends;
      if (time > 0) one.density[i] = hits / time;
      one.hits[i] *= kMemory;
      one.gone[i] *= kMemory;
    }
  }
  // Ages get coarser if too many events are older than the oldest age, and finer if nearly none gets old.
  const bool coarser = overflows_ > 0.1 * events_;
  const bool finer = coarseness_ > 1 && overflows_ == 0;
  overflows_ = 0;
  events_ = 0;
  if (!coarser && !finer) return;
  for (auto& one : classes_)
    for (auto* counts : {&one.hits, &one.gone, &one.density}) {
      const bool rate = counts == &one.density;
      const auto old = *counts;
      for (std::size_t i = 0; i < kAges; ++i) {
        const auto twice = std::min(2 * i, kAges - 1);
        if (coarser)
          (*counts)[i] = rate ? old[twice] : 2 * i + 1 < kAges ? old[2 * i] + old[2 * i + 1] : 0;
        else
          (*counts)[i] = rate ? old[i / 2] : old[i / 2] / 2;
      }
    }
  coarseness_ = coarser ? coarseness_ * 2 : coarseness_ / 2;
}

void Lhd::inserted(RegionId id) {
  if (states_.size() <= id) states_.resize(id + 1);
  tick();
  states_[id] = {.seen = now_, .place = static_cast<std::uint32_t>(live_.size())};
  live_.push_back(id);
}

void Lhd::touched(RegionId id) {
  tick();
  auto& state = states_[id];
  const auto at = age(state);
  class_of(state).hits[at] += 1;
  ++events_;
  if (at == kAges - 1) ++overflows_;
  state.uses = static_cast<std::uint8_t>(std::min(255, state.uses + 1));
  state.seen = now_;
}

void Lhd::removed(RegionId id) {
  const auto& state = states_[id];
  const auto at = age(state);
  class_of(state).gone[at] += 1;
  ++events_;
  if (at == kAges - 1) ++overflows_;
  states_[live_.back()].place = state.place;
  live_[state.place] = live_.back();
  live_.pop_back();
}

void Lhd::choose(std::uint64_t needed, std::vector<RegionId>& victims) {
  const auto begin = victims.size();
  std::uint64_t found = 0;
  while (found < needed) {
    auto worst = kNoRegion;
    double least = 0;
    const auto consider = [&](RegionId id) {
      if (states_[id].chosen || regions_.in_use(id)) return;
      const auto value = density(id);
      if (worst != kNoRegion && value >= least) return;
      worst = id;
      least = value;
    };
    if (live_.size() > kSample)
      for (std::size_t i = 0; i < kSample; ++i) consider(live_[random_() % live_.size()]);
    if (worst == kNoRegion)
      for (const auto id : live_) consider(id);
    if (worst == kNoRegion) break;
    states_[worst].chosen = true;
    victims.push_back(worst);
    found += regions_.pages(worst).count;
  }
  for (auto i = begin; i < victims.size(); ++i) states_[victims[i]].chosen = false;
}

}  // namespace longhaul::registration
