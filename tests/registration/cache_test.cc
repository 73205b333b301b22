#include "registration/cache/cache.hh"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <random>
#include <set>

#include "registration/policies/lru.hh"
#include "registration/policies/strategy.hh"

namespace longhaul::registration {
namespace {

using testing::ElementsAre;

RegionCache::MakePolicy lru() {
  return [](const Regions& regions, Capacity capacity) { return std::make_unique<Lru>(regions, capacity, 0.0); };
}

using Lease = std::vector<RegionId>;

// A request as an executor performs it; `leased`: the transfer goes on.
RegistrationPlan perform(RegionCache& cache, Pages asked, Lease* leased = nullptr) {
  const auto plan = cache.request(asked);
  auto lease = plan.covered;
  if (plan.kept)
    for (const auto& gap : plan.gaps) cache.add(gap, lease);
  if (leased == nullptr)
    cache.release(lease);
  else
    *leased = lease;
  return plan;
}

TEST(PagesOf, CountsTouchedPagesAndRefusesWhatIsNone) {
  EXPECT_EQ(pages_of(0, 1).value(), (Pages{0, 1}));
  EXPECT_EQ(pages_of(4095, 2).value(), (Pages{0, 2}));
  EXPECT_EQ(pages_of(8192, 4096).value(), (Pages{2, 1}));
  EXPECT_FALSE(pages_of(5, 0));
  EXPECT_FALSE(pages_of(~std::uint64_t{0}, 2));
  EXPECT_EQ(pages_of(~std::uint64_t{0}, 1).value().count, 1U);
}

TEST(RegionCache, TellsTheFourCasesAndRegistersGapsOnly) {
  RegionCache cache{{.pages = 100}, lru()};
  EXPECT_EQ(perform(cache, {10, 10}).coverage, Coverage::miss);
  EXPECT_EQ(perform(cache, {10, 10}).coverage, Coverage::exact);
  EXPECT_EQ(perform(cache, {10, 4}).coverage, Coverage::subset);
  EXPECT_EQ(perform(cache, {15, 5}).coverage, Coverage::subset);
  const auto overlap = perform(cache, {5, 20});
  EXPECT_EQ(overlap.coverage, Coverage::overlap);
  EXPECT_THAT(overlap.gaps, ElementsAre(Pages{5, 5}, Pages{20, 5}));
  const auto several = perform(cache, {7, 16});
  EXPECT_EQ(several.coverage, Coverage::several);
  EXPECT_EQ(several.covered.size(), 3U);
  EXPECT_EQ(cache.used(), 20U);
  EXPECT_EQ(cache.regions(), 3U);
}

TEST(RegionCache, EvictsWhatWasUsedLongestAgoButNothingInUse) {
  RegionCache cache{{.pages = 30}, lru()};
  Lease lease;
  perform(cache, {0, 10}, &lease);
  perform(cache, {100, 10});
  perform(cache, {200, 10});
  const auto plan = perform(cache, {300, 15});
  ASSERT_EQ(plan.evicted.size(), 2U);
  EXPECT_EQ(plan.evicted[0].pages, (Pages{100, 10}));
  EXPECT_EQ(plan.evicted[1].pages, (Pages{200, 10}));
  cache.release(lease);
  EXPECT_EQ(perform(cache, {400, 10}).evicted.at(0).pages, (Pages{0, 10}));
}

TEST(RegionCache, WhatCannotBeKeptIsSaid) {
  RegionCache cache{{.pages = 10}, lru()};
  EXPECT_FALSE(cache.request({0, 11}).kept);
  Lease lease;
  perform(cache, {0, 10}, &lease);
  const auto plan = cache.request({100, 1});
  EXPECT_FALSE(plan.kept) << "all the rest is in use";
  EXPECT_TRUE(plan.evicted.empty());
}

TEST(RegionCache, CountsRegionsToo) {
  RegionCache cache{{.pages = 1000, .regions = 2}, lru()};
  perform(cache, {0, 1});
  perform(cache, {10, 1});
  EXPECT_EQ(perform(cache, {20, 1}).evicted.size(), 1U);
  EXPECT_EQ(cache.regions(), 2U);
}

TEST(RegionCache, MergingMakesOneRegionOfWhatOverlaps) {
  RegionCache cache{{.pages = 100}, lru(), {.overlap = Overlap::merge}};
  perform(cache, {10, 10});
  perform(cache, {30, 10});
  const auto plan = perform(cache, {15, 20});
  EXPECT_EQ(plan.coverage, Coverage::overlap);
  EXPECT_THAT(plan.gaps, ElementsAre(Pages{10, 30}));
  EXPECT_EQ(plan.evicted.size(), 2U);
  EXPECT_EQ(cache.regions(), 1U);
}

TEST(RegionCache, PagesAreRegionsOfTheirOwnWhereThePolicyWantsThem) {
  RegionCache cache{{.pages = 4}, lru(), {.granularity = Granularity::page}};
  perform(cache, {0, 4});
  EXPECT_EQ(cache.regions(), 4U);
  const auto plan = perform(cache, {2, 3});
  EXPECT_THAT(plan.gaps, ElementsAre(Pages{4, 1}));
  EXPECT_EQ(plan.evicted.at(0).pages, (Pages{0, 1}));
}

TEST(RegionCache, InvalidationTakesEveryRegionThatIsTouched) {
  RegionCache cache{{.pages = 100}, lru()};
  perform(cache, {0, 10});
  Lease lease;
  perform(cache, {20, 10}, &lease);
  perform(cache, {40, 10});
  const auto now = cache.invalidate({9, 12});
  ASSERT_EQ(now.size(), 1U) << "the other is in use";
  EXPECT_EQ(now[0].pages, (Pages{0, 10}));
  EXPECT_EQ(cache.regions(), 1U);
  EXPECT_EQ(cache.used(), 10U);
  // It is never found again, and its id is not given away while its transfer lasts.
  Lease other;
  EXPECT_EQ(perform(cache, {20, 10}, &other).coverage, Coverage::miss);
  EXPECT_NE(other, lease);
  EXPECT_TRUE(cache.release(other).empty());
  const auto later = cache.release(lease);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later[0].pages, (Pages{20, 10}));
}

TEST(RegionCache, ABrokenRegionGoesWithItsLastUser) {
  RegionCache cache{{.pages = 100}, lru()};
  Lease one, other;
  perform(cache, {20, 10}, &one);
  perform(cache, {20, 10}, &other);
  EXPECT_TRUE(cache.invalidate({25, 1}).empty());
  EXPECT_TRUE(cache.release(one).empty()) << "the other uses it still";
  EXPECT_EQ(cache.release(other).size(), 1U);
}

TEST(RegionCache, WhatIsInUseIsNotMergedAway) {
  RegionCache cache{{.pages = 100}, lru(), {.overlap = Overlap::merge}};
  Lease used;
  perform(cache, {20, 10}, &used);
  const auto plan = perform(cache, {15, 10});
  EXPECT_TRUE(plan.evicted.empty());
  EXPECT_THAT(plan.gaps, ElementsAre(Pages{15, 5})) << "as if nothing were merged";
  cache.release(used);
  EXPECT_THAT(perform(cache, {10, 10}).gaps, ElementsAre(Pages{10, 10})) << "now one over all of it";
}

// Every strategy against books kept page by page.
TEST(RegionCache, NeverForgetsNorInventsAPage) {
  const auto all_strategies = parse_strategies("all", cost_profiles()).value();
  for (const auto& strategy : all_strategies) {
    if (!strategy.policy) continue;
    SCOPED_TRACE(strategy.name);
    constexpr std::uint64_t kCapacity = 200;
    RegionCache cache{{.pages = kCapacity}, strategy.policy, strategy.options};
    std::set<std::uint64_t> cached;
    std::deque<Lease> leases;
    std::map<std::uint64_t, int> in_use;  // by page
    const auto count = [&](const Lease& lease, int more) {
      for (const auto id : lease)
        for (auto page = cache.pages_of_region(id).first; page < cache.pages_of_region(id).end(); ++page)
          in_use[page] += more;
    };
    std::mt19937 random{7};
    for (int step = 0; step < 5'000; ++step) {
      const Pages asked{random() % 600, 1 + random() % 20};
      std::uint64_t there = 0;
      for (auto page = asked.first; page < asked.end(); ++page) there += cached.count(page);
      const auto plan = cache.request(asked);
      ASSERT_EQ(plan.hit(), there == asked.count);
      for (const auto& gone : plan.evicted)
        for (auto page = gone.pages.first; page < gone.pages.end(); ++page) {
          ASSERT_EQ(cached.erase(page), 1U);
          ASSERT_EQ(in_use[page], 0);
        }
      auto lease = plan.covered;
      if (plan.kept)
        for (const auto& gap : plan.gaps) {
          cache.add(gap, lease);
          for (auto page = gap.first; page < gap.end(); ++page) ASSERT_TRUE(cached.insert(page).second);
        }
      ASSERT_EQ(cache.used(), cached.size());
      ASSERT_LE(cache.used(), kCapacity);
      count(lease, 1);
      leases.push_back(std::move(lease));
      if (leases.size() < 4) continue;
      count(leases.front(), -1);
      ASSERT_TRUE(cache.release(leases.front()).empty());
      leases.pop_front();
    }
  }
}

}  // namespace
}  // namespace longhaul::registration
