#include "degen/service/probe_matcher.hh"

#include <algorithm>

namespace longhaul::degen {
namespace {

// Bounds, so that a flood of datagrams to the probe port costs no more than a few MiB.
constexpr std::size_t kMaxPassages = 1 << 16;
constexpr std::size_t kMaxSamples = 1 << 18;
constexpr std::size_t kMaxSessions = 1 << 10;

}  // namespace

void ProbeMatcher::drop_oldest(Path& path) {
  const auto it = path.passages.find(path.by_arrival.front());
  path.by_arrival.pop_front();
  if (it == path.passages.end()) return;
  if (it->second.departures == 0) ++path.lost;
  path.passages.erase(it);
}

void ProbeMatcher::see(const Sighting& sighting) {
  auto& p = path(sighting.way);
  const Key key{std::uint64_t{sighting.session} << 32 | sighting.sequence, sighting.direction};
  if (!sighting.leaving) {
    const auto [it, fresh] = p.passages.try_emplace(key, Passage{.arrived = sighting.time, .turn = p.turns});
    if (!fresh) return;  // doubled before it came here
    ++p.turns;
    p.by_arrival.push_back(key);
    if (p.by_arrival.size() > kMaxPassages) drop_oldest(p);
    return;
  }
  const auto it = p.passages.find(key);
  if (it == p.passages.end()) return;  // it arrived under an earlier impairment, or before this service ran
  if (++it->second.departures > 1) {
    ++p.duplicated;
    return;
  }
  if (p.samples.size() < kMaxSamples) p.samples.push_back((sighting.time - it->second.arrived).count());
  if (p.newest_left.size() > kMaxSessions) p.newest_left.clear();
  auto& newest = p.newest_left.try_emplace(std::uint64_t{sighting.session} << 1 | sighting.direction, it->second.turn)
                     .first->second;
  if (it->second.turn < newest) ++p.reordered;
  newest = std::max(newest, it->second.turn);
}

void ProbeMatcher::expire(Nanoseconds now, Nanoseconds patience) {
  for (auto* p : {&forward_, &back_}) {
    while (!p->by_arrival.empty()) {
      const auto it = p->passages.find(p->by_arrival.front());
      if (it != p->passages.end() && now - it->second.arrived <= patience) break;
      drop_oldest(*p);
    }
  }
}

Residence ProbeMatcher::residence(Way way) const {
  const auto& p = way == Way::forward ? forward_ : back_;
  Residence residence{
      .samples = p.samples.size(), .lost = p.lost, .duplicated = p.duplicated, .reordered = p.reordered};
  if (p.samples.empty()) return residence;
  auto sorted = p.samples;
  std::sort(sorted.begin(), sorted.end());
  const auto count = sorted.size();
  residence.min = sorted.front();
  residence.max = sorted.back();
  residence.median = count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
  residence.p99 = sorted[std::min(count - 1, count * 99 / 100)];
  return residence;
}

void ProbeMatcher::begin_window() {
  for (auto* p : {&forward_, &back_}) {
    p->samples.clear();
    p->lost = p->duplicated = p->reordered = 0;
  }
}

void ProbeMatcher::reset() {
  forward_ = {};
  back_ = {};
}

}  // namespace longhaul::degen
