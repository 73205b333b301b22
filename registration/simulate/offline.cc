#include "registration/simulate/offline.hh"

#include <algorithm>
#include <numeric>
#include <random>

namespace longhaul::registration {

void Future::add(const std::vector<Pages>& requests) {
  asked_.insert(asked_.end(), requests.begin(), requests.end());
}

bool Future::prepare() {
  std::vector<std::uint64_t> order(asked_.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::sort(order.begin(), order.end(), [this](std::uint64_t a, std::uint64_t b) {
    return std::tuple{asked_[a].first, asked_[a].count, a} < std::tuple{asked_[b].first, asked_[b].count, b};
  });
  object_.resize(asked_.size());
  next_.assign(asked_.size(), kNever);
  size_.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& one = asked_[order[i]];
    const bool same = i > 0 && asked_[order[i - 1]] == one;
    if (same) next_[order[i - 1]] = order[i];
    if (!same) {
      if (i > 0 && asked_[order[i - 1]].end() > one.first) return false;
      size_.push_back(static_cast<std::uint32_t>(one.count));
    }
    object_[order[i]] = static_cast<std::uint32_t>(size_.size() - 1);
  }
  return true;
}

Tally Future::belady_size(std::uint64_t capacity_pages) const {
  constexpr std::size_t kScanAll = 4096;
  constexpr std::size_t kSample = 256;
  struct Cached {
    std::uint32_t object;
    std::uint64_t next;
  };
  constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  std::vector<Cached> cached;
  std::vector<std::uint32_t> place(size_.size(), kAbsent);
  std::mt19937_64 random{1};
  std::uint64_t used = 0;
  Tally tally;
  const auto drop = [&](std::size_t at) {
    const auto gone = cached[at];
    used -= size_[gone.object];
    place[gone.object] = kAbsent;
    cached[at] = cached.back();
    cached.pop_back();
    if (at < cached.size()) place[cached[at].object] = static_cast<std::uint32_t>(at);
    ++tally.deregistrations;
    ++tally.batches;
    tally.deregistered_pages += size_[gone.object];
  };
  for (std::uint64_t now = 0; now < object_.size(); ++now) {
    const auto object = object_[now];
    const auto pages = size_[object];
    ++tally.requests;
    tally.pages += pages;
    if (place[object] != kAbsent) {
      ++tally.hits;
      cached[place[object]].next = next_[now];
      continue;
    }
    ++tally.registrations;
    tally.registered_pages += pages;
    const auto worth = [&](std::uint32_t what, std::uint64_t next) {
      return next == kNever ? 1e300 : static_cast<double>(size_[what]) * static_cast<double>(next - now);
    };
    bool keep = pages <= capacity_pages;
    while (keep && used + pages > capacity_pages) {
      // The newcomer may be the worst of all: then it is not kept.
      std::size_t worst = cached.size();
      auto most = worth(object, next_[now]);
      const auto consider = [&](std::size_t at) {
        const auto value = worth(cached[at].object, cached[at].next);
        if (value < most) return;
        most = value;
        worst = at;
      };
      if (cached.size() <= kScanAll)
        for (std::size_t at = 0; at < cached.size(); ++at) consider(at);
      else
        for (std::size_t i = 0; i < kSample; ++i) consider(random() % cached.size());
      keep = worst < cached.size();
      if (keep) drop(worst);
    }
    if (!keep) {
      ++tally.deregistrations;
      ++tally.batches;
      tally.deregistered_pages += pages;
      continue;
    }
    place[object] = static_cast<std::uint32_t>(cached.size());
    cached.push_back({object, next_[now]});
    used += pages;
  }
  return tally;
}

template <typename Value>
Future::Bound Future::greedy(std::uint64_t capacity_pages, Value value) const {
  struct Interval {
    double density;
    double room;  // pages times requests
    double value;
  };
  std::vector<Interval> intervals;
  for (std::uint64_t now = 0; now < object_.size(); ++now) {
    if (next_[now] == kNever) continue;
    const auto pages = size_[object_[now]];
    if (pages > capacity_pages) continue;
    const auto room = static_cast<double>(pages) * static_cast<double>(next_[now] - now);
    const auto brings = value(pages);
    intervals.push_back({brings / room, room, brings});
  }
  std::sort(intervals.begin(), intervals.end(), [](const auto& a, const auto& b) { return a.density > b.density; });
  auto left = static_cast<double>(capacity_pages) * static_cast<double>(object_.size());
  Bound bound;
  for (const auto& one : intervals) {
    const auto share = std::min(1.0, left / one.room);
    bound.hits += share;
    bound.saved += share * one.value;
    left -= share * one.room;
    if (left <= 0) break;
  }
  return bound;
}

double Future::left_over(std::uint64_t capacity_pages, const CostProfile& profile) const {
  auto sizes = size_;
  std::sort(sizes.begin(), sizes.end());  // small ones cost most by page
  double cost = 0;
  std::uint64_t used = 0;
  for (const auto size : sizes) {
    used += size;
    if (used > capacity_pages) break;
    cost += profile.deregistering.of(size);
  }
  return cost;
}

Future::Bound Future::pfoo_hits(std::uint64_t capacity_pages) const {
  return greedy(capacity_pages, [](std::uint64_t) { return 1.0; });
}

Future::Bound Future::pfoo_saved(std::uint64_t capacity_pages, const CostProfile& profile) const {
  return greedy(capacity_pages,
                [&](std::uint64_t pages) { return profile.registering.of(pages) + profile.deregistering.of(pages); });
}

}  // namespace longhaul::registration
