#include "registration/cache/shared_cache.hh"

#include <gmock/gmock.h>

#include <random>
#include <thread>

#include "registration/policies/strategy.hh"

namespace longhaul::registration {
namespace {

Strategy strategy(std::string_view name) {
  return parse_strategies(name, cost_profiles()).value().front();
}

// A get as an executor performs it; what it registered, deregistered.
struct Traffic {
  std::uint64_t registered = 0;
  std::uint64_t deregistered = 0;
  void gone(const std::vector<Eviction>& evicted) {
    for (const auto& one : evicted) deregistered += one.pages.count;
  }
};

void use(SharedCache::User& user, Pages asked, Traffic& traffic) {
  if (const auto id = user.find(asked); id != kNoRegion) {
    user.release(id);
    return;
  }
  user.exclusively([&](RegionCache& cache) {
    const auto plan = cache.request(asked);
    traffic.gone(plan.evicted);
    auto leased = plan.covered;
    if (plan.kept)
      for (const auto& gap : plan.gaps) {
        traffic.registered += gap.count;
        cache.add(gap, leased);
      }
    traffic.gone(cache.release(leased));
  });
}

TEST(SharedCache, OneThreadGetsWhatARegionCacheGives) {
  for (const char* name : {"lru", "mrrc", "gdsf", "sieve", "w-tinylfu"}) {
    SCOPED_TRACE(name);
    const auto chosen = strategy(name);
    SharedCache shared{{.pages = 300}, chosen.policy, chosen.options};
    RegionCache plain{{.pages = 300}, chosen.policy, chosen.options};
    SharedCache::User user{shared};
    Traffic traffic;
    std::uint64_t registered = 0;
    std::mt19937 random{5};
    for (int i = 0; i < 30'000; ++i) {
      const auto object = std::min(random() % 100, random() % 100);
      const Pages asked{object * 100, 1 + object % 20};
      use(user, asked, traffic);
      const auto plan = plain.request(asked);
      auto leased = plan.covered;
      for (const auto& gap : plan.gaps) {
        registered += gap.count;
        plain.add(gap, leased);
      }
      plain.release(leased);
    }
    EXPECT_EQ(traffic.registered, registered);
  }
}

TEST(SharedCache, WhatAnotherThreadUsesStays) {
  const auto lru = strategy("lru");
  SharedCache shared{{.pages = 10}, lru.policy, lru.options};
  SharedCache::User one{shared};
  SharedCache::User other{shared};
  Traffic traffic;
  use(one, {0, 5}, traffic);
  const auto held = one.find({0, 5});
  ASSERT_NE(held, kNoRegion);
  for (std::uint64_t object = 1; object < 20; ++object) use(other, {object * 100, 5}, traffic);
  EXPECT_NE(other.find({1900, 5}), kNoRegion);
  EXPECT_EQ(one.find({0, 5}), held);
}

TEST(SharedCache, WhatIsInvalidatedIsGivenBackByItsLastUser) {
  const auto lru = strategy("lru");
  std::vector<Eviction> gone;
  SharedCache shared{{.pages = 10}, lru.policy, lru.options, [&](const Eviction& region) { gone.push_back(region); }};
  SharedCache::User one{shared};
  SharedCache::User other{shared};
  Traffic traffic;
  use(one, {0, 5}, traffic);
  const auto first = one.find({0, 5});
  const auto second = other.find({0, 5});
  ASSERT_EQ(first, second);
  other.exclusively([](RegionCache& cache) { EXPECT_TRUE(cache.invalidate({2, 1}).empty()); });
  EXPECT_EQ(one.find({0, 5}), kNoRegion);
  one.release(first);
  shared.reap();
  EXPECT_TRUE(gone.empty());
  EXPECT_TRUE(shared.broken());
  other.release(second);
  shared.reap();
  EXPECT_FALSE(shared.broken());
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].pages, (Pages{0, 5}));
}

// Four threads hit, miss and invalidate; what was registered is registered still or was deregistered once.
TEST(SharedCache, WhatGoesGoesInAllSpaces) {
  const auto lru = strategy("lru");
  std::vector<Pages> handed;
  SharedCache shared{
      {.pages = 100}, lru.policy, lru.options, [&](const Eviction& one) { handed.push_back(one.pages); }};
  SharedCache::User user{shared};
  Traffic traffic;
  const auto times = shared.times_gone();
  shared.use_spaces(3);
  for (const std::uint64_t space : {0, 1, 2}) use(user, {space * SharedCache::kSpacePages + 7, 2}, traffic);
  use(user, {SharedCache::kSpacePages + 20, 1}, traffic);
  EXPECT_EQ(traffic.registered, 7U);
  shared.invalidate([](std::vector<Pages>& gone) { gone.push_back({8, 1}); });
  EXPECT_EQ(shared.times_gone(), times + 1);
  EXPECT_EQ(handed.size(), 3U);
  EXPECT_EQ(user.find({SharedCache::kSpacePages + 7, 2}), kNoRegion);
  EXPECT_NE(user.find({SharedCache::kSpacePages + 20, 1}), kNoRegion);
}

TEST(SharedCache, ThreadsAgreeOnTheBooks) {
  const auto gdsf = strategy("gdsf");
  std::vector<Eviction> handed_over;
  SharedCache shared{
      {.pages = 500}, gdsf.policy, gdsf.options, [&](const Eviction& region) { handed_over.push_back(region); }};
  std::vector<Traffic> traffic(4);
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < traffic.size(); ++t)
      threads.emplace_back([&, t] {
        SharedCache::User user{shared};
        std::mt19937 random{t};
        for (int i = 0; i < 20'000; ++i) {
          const auto object = std::min(random() % 200, random() % 200);
          use(user, {object * 100, 1 + object % 20}, traffic[t]);
          if (i % 100 == 0)
            user.exclusively([&](RegionCache& cache) { traffic[t].gone(cache.invalidate({object * 100, 3})); });
        }
      });
  }
  shared.reap();
  traffic[0].gone(handed_over);
  std::uint64_t registered = 0;
  std::uint64_t deregistered = 0;
  for (const auto& one : traffic) {
    registered += one.registered;
    deregistered += one.deregistered;
  }
  SharedCache::User last{shared};
  last.exclusively([&](RegionCache& cache) { EXPECT_EQ(registered - deregistered, cache.used()); });
}

}  // namespace
}  // namespace longhaul::registration
