#include "registration/cache/executor.hh"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <random>

#include "registration/policies/strategy.hh"
#include "tests/some.hh"

namespace longhaul::registration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Adapter final : public Registrar {
 public:
  tl::expected<Registered, int> add(Pages pages) override {
    const std::scoped_lock lock{mutex};
    if (used + pages.count > room) return tl::unexpected(ENOMEM);
    used += pages.count;
    live[++last] = pages;
    return Registered{last, {last, last}};
  }
  int remove(Handle handle) override {
    const std::scoped_lock lock{mutex};
    const auto it = live.find(static_cast<std::uint32_t>(handle));
    if (it == live.end()) return EINVAL;
    used -= it->second.count;
    live.erase(it);
    return 0;
  }
  std::map<std::uint32_t, Pages> live;
  std::uint64_t room = ~std::uint64_t{0};
  std::uint64_t used = 0;
  std::uint32_t last = 0;

 private:
  std::mutex mutex;  // the watch's thread removes
};

CacheSetup cache_of(const char* policy, std::uint64_t pages) {
  const auto strategy = parse_strategies(policy, cost_profiles())->front();
  return {.capacity = {pages}, .policy = strategy.policy, .options = strategy.options};
}

std::vector<Pages> pages_of_pieces(const Executor::Lease& lease) {
  std::vector<Pages> all;
  for (const auto& piece : lease.pieces()) all.push_back(piece.pages);
  return all;
}

TEST(Executor, WithoutACacheEachRequestIsRegisteredAndDeregistered) {
  Adapter adapter;
  Executor executor{adapter, std::nullopt};
  for (int i = 0; i < 3; ++i) {
    auto lease = executor.lease({10, 4});
    ASSERT_TRUE(lease);
    EXPECT_THAT(pages_of_pieces(*lease), ElementsAre(Pages{10, 4}));
    EXPECT_EQ(adapter.live.size(), 1U);
    *lease = {};
    EXPECT_THAT(adapter.live, IsEmpty());
  }
  EXPECT_EQ(executor.counters().registrations, 3U);
  EXPECT_EQ(executor.counters().deregistrations, 3U);
  EXPECT_EQ(executor.counters().hits, 0U);
}

TEST(Executor, WhatIsCoveredMayBeUsedBeforeTheGapsAreRegistered) {
  Adapter adapter;
  Executor executor{adapter, cache_of("lru", 100)};
  auto first = executor.lease({10, 4});
  *first = {};
  auto second = executor.begin({8, 8});
  EXPECT_FALSE(second.complete());
  EXPECT_THAT(pages_of_pieces(second), ElementsAre(Pages{10, 4}));
  EXPECT_EQ(adapter.live.size(), 1U);
  ASSERT_TRUE(executor.complete(second));
  EXPECT_THAT(pages_of_pieces(second), ElementsAre(Pages{8, 2}, Pages{10, 4}, Pages{14, 2}));
  EXPECT_EQ(adapter.live.size(), 3U);
  EXPECT_EQ(executor.counters().overlaps, 1U);
  second = {};
}

TEST(Executor, ASubsetIsAPieceOfItsRegion) {
  Adapter adapter;
  Executor executor{adapter, cache_of("lru", 100)};
  auto whole = executor.lease({10, 8});
  auto part = executor.lease({12, 2});
  EXPECT_THAT(pages_of_pieces(*part), ElementsAre(Pages{12, 2}));
  EXPECT_EQ(part->pieces().front().keys, whole->pieces().front().keys);
  EXPECT_EQ(executor.counters().hits, 1U);
  *part = {};
  *whole = {};
}

TEST(Executor, WhereThereIsNoMemoryMoreIsEvictedAndItIsTriedAgain) {
  Adapter adapter;
  adapter.room = 10;
  Executor executor{adapter, cache_of("lru", 100)};
  for (std::uint64_t i = 0; i < 5; ++i) {
    auto lease = executor.lease({100 * i, 4});
    ASSERT_TRUE(lease);
    *lease = {};
  }
  EXPECT_EQ(executor.counters().out_of_memory, 3U);
  EXPECT_EQ(adapter.live.size(), 2U);
}

TEST(Executor, WhatIsInUseIsNotEvictedForIt) {
  Adapter adapter;
  adapter.room = 10;
  Executor executor{adapter, cache_of("lru", 100)};
  auto held = executor.lease({0, 8});
  const auto refused = executor.lease({100, 4});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("register 16 KiB at 0x64000"));
  EXPECT_THAT(refused.error().message, HasSubstr("ulimit -l"));
  EXPECT_EQ(adapter.live.size(), 1U);
  *held = {};
  EXPECT_TRUE(executor.lease({100, 4}));  // now it can
}

TEST(Executor, ARequestLargerThanTheCacheIsRegisteredForItself) {
  Adapter adapter;
  Executor executor{adapter, cache_of("mrrc", 8)};
  auto lease = executor.lease({0, 20});
  ASSERT_TRUE(lease);
  EXPECT_EQ(adapter.live.size(), 1U);
  *lease = {};
  EXPECT_THAT(adapter.live, IsEmpty());
}

TEST(Executor, EndingItDeregistersEverything) {
  Adapter adapter;
  {
    Executor executor{adapter, cache_of("mrrc", 64)};
    for (std::uint64_t i = 0; i < 10; ++i) {
      auto lease = executor.lease({100 * i, 4});
      *lease = {};
    }
    EXPECT_FALSE(adapter.live.empty());
  }
  EXPECT_THAT(adapter.live, IsEmpty());
}

// Every policy, two leases at a time, too little memory: at every moment each piece lies in a region that is live under
// its key, and pieces cover what was asked for.
TEST(Executor, PiecesAreRegisteredWhateverThePolicyDoes) {
  const auto strategies = parse_strategies("all", {cost_profiles().front()});
  for (const auto& strategy : *strategies) {
    if (strategy.options.granularity == Granularity::page) continue;
    Adapter adapter;
    // Merged regions may grow beyond what is left beside those in use.
    if (strategy.options.overlap != Overlap::merge) adapter.room = 90;
    std::mt19937 random{7};
    {
      std::optional<CacheSetup> cache;
      if (strategy.policy) cache = {.capacity = {96}, .policy = strategy.policy, .options = strategy.options};
      Executor executor{adapter, cache};
      for (int i = 0; i < 2000; ++i) {
        std::array<Executor::Lease, 2> leases;
        for (auto& lease : leases) {
          lease = executor.begin({random() % 200, 1 + random() % 20});
          ASSERT_TRUE(executor.complete(lease)) << strategy.name;
        }
        for (const auto& lease : leases) {
          for (const auto& piece : some(lease.pieces())) {
            const auto& region = adapter.live.at(piece.keys.local);
            ASSERT_LE(region.first, piece.pages.first) << strategy.name;
            ASSERT_GE(region.end(), piece.pages.end()) << strategy.name;
          }
        }
        for (auto& lease : leases) lease = {};
      }
    }
    EXPECT_THAT(adapter.live, IsEmpty()) << strategy.name;
  }
}

TEST(Executor, ALeaseEndsWithItsLife) {
  Adapter adapter;
  Executor executor{adapter, std::nullopt};
  {
    auto lease = executor.lease({10, 4});
    auto moved = std::move(*lease);
    *lease = {};
    EXPECT_EQ(adapter.live.size(), 1U) << "it is the other one's now";
    auto next = executor.lease({20, 4});
    moved = std::move(*next);
    EXPECT_EQ(adapter.live.size(), 1U) << "what it had has ended";
  }
  EXPECT_THAT(adapter.live, IsEmpty());
}

TEST(Executor, RegionsLieUpToTheWatermarkAndGoTogether) {
  Adapter adapter;
  Executor executor{adapter, std::nullopt, 3};
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(executor.lease({100 * i, 4}));
    executor.tidy();
  }
  EXPECT_EQ(adapter.live.size(), 3U) << "their leases have ended";
  EXPECT_EQ(executor.counters().deregistrations, 0U);
  EXPECT_EQ(executor.counters().most_idle_pages, 12U);
  ASSERT_TRUE(executor.lease({900, 4}));
  EXPECT_EQ(adapter.live.size(), 4U) << "nobody waits for it";
  executor.tidy();
  EXPECT_THAT(adapter.live, IsEmpty()) << "one more than the watermark: all of them";
  EXPECT_EQ(executor.counters().deregistrations, 4U);
  EXPECT_GT(executor.counters().exposed, 0);
  EXPECT_EQ(executor.counters().most_idle_pages, 16U);
  // They make room for a registration that finds none, with or without a cache, and go with the executor.
  adapter.room = 8;
  ASSERT_TRUE(executor.lease({0, 5}));
  ASSERT_TRUE(executor.lease({50, 5}));
  EXPECT_EQ(adapter.live.size(), 1U);
  {
    Executor other{adapter, cache_of("lru", 4), 1};
    ASSERT_TRUE(other.lease({200, 3}));
    ASSERT_TRUE(other.lease({300, 3})) << "the first lies there, out of the cache";
    EXPECT_EQ(adapter.live.size(), 2U) << "it went for want of room";
  }
  EXPECT_EQ(adapter.live.size(), 1U);
}

TEST(Executor, WhatIsEvictedIsDeregisteredWhenThereIsTime) {
  Adapter adapter;
  Executor executor{adapter, cache_of("lru", 10)};
  ASSERT_TRUE(executor.lease({0, 5}));
  ASSERT_TRUE(executor.lease({100, 5}));
  auto lease = executor.lease({200, 5});
  EXPECT_EQ(executor.counters().evictions, 1U);
  EXPECT_EQ(executor.counters().deregistrations, 0U) << "the request did not wait for it";
  executor.tidy();
  EXPECT_EQ(executor.counters().deregistrations, 1U);
  EXPECT_EQ(adapter.live.size(), 2U);
  ASSERT_TRUE(executor.lease({300, 5}));
  ASSERT_TRUE(executor.lease({400, 5}));
  EXPECT_EQ(adapter.live.size(), 3U) << "without tidy() no more than one request's are left";
}

class Mapped {
 public:
  static constexpr std::uint64_t kPages = 16;
  Mapped()
      : address_(::mmap(nullptr, kPages * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Mapped() { ::munmap(address_, kPages * kPageSize); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  Pages pages() const { return {reinterpret_cast<std::uint64_t>(address_) / kPageSize, kPages}; }
  void drop() { EXPECT_EQ(::madvise(address_, kPages * kPageSize, MADV_DONTNEED), 0); }

 private:
  void* address_;
};

TEST(Executor, WhatLosesItsMappingIsRegisteredAnew) {
  Adapter adapter;
  Mapped memory;
  Executor executor{adapter, cache_of("lru", 100)};
  ASSERT_TRUE(executor.watch(memory.pages()));
  const auto first = executor.lease(memory.pages())->pieces().front().keys;
  EXPECT_EQ(executor.lease(memory.pages())->pieces().front().keys, first);
  memory.drop();
  EXPECT_NE(executor.lease(memory.pages())->pieces().front().keys, first);
  // In use meanwhile: usable to its end, and no longer.
  auto used = executor.lease(memory.pages());
  memory.drop();
  EXPECT_NE(executor.lease(memory.pages())->pieces().front().keys, used->pieces().front().keys);
  EXPECT_EQ(adapter.live.count(used->pieces().front().keys.local), 1U);
  const auto last = used->pieces().front().keys.local;
  *used = {};
  executor.tidy();
  EXPECT_EQ(adapter.live.count(last), 0U);
  EXPECT_EQ(executor.counters().deregistrations, 2U);
}

TEST(Executor, WhatCannotBeWatchedIsNotCached) {
  Adapter adapter;
  Mapped memory;
  Executor executor{adapter, cache_of("lru", 100)};
  ASSERT_TRUE(executor.watch(memory.pages()));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(executor.lease({1, 4})) << "page 1 is mapped by nobody";
  EXPECT_EQ(executor.counters().hits, 0U);
  EXPECT_THAT(adapter.live, IsEmpty());
}

TEST(Executor, SinglePagesAreForSimulation) {
  Adapter adapter;
  auto cache = cache_of("lru", 8);
  cache.options.granularity = Granularity::page;
  EXPECT_THROW((Executor{adapter, cache}), std::logic_error);
}

}  // namespace
}  // namespace longhaul::registration
