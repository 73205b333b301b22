#include "registration/cache/mapping_watch.hh"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <map>
#include <random>
#include <thread>

#include "registration/policies/strategy.hh"

namespace longhaul::registration {
namespace {

Pages pages_at(const void* address, std::uint64_t count) {
  return {reinterpret_cast<std::uint64_t>(address) / kPageSize, count};
}

// Slots of address space that are mapped, discarded and moved at random, and an oracle that knows which life each page
// is in.
class Arena {
 public:
  static constexpr std::size_t kSlots = 64;
  static constexpr std::size_t kPages = 8;  // of a slot

  Arena() {
    base_ = static_cast<char*>(
        ::mmap(nullptr, kSlots * kPages * kPageSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (std::size_t slot = 0; slot < kSlots; ++slot) map(slot);
  }
  ~Arena() { ::munmap(base_, kSlots * kPages * kPageSize); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  char* at(std::size_t slot, std::size_t page = 0) const { return base_ + (slot * kPages + page) * kPageSize; }
  bool mapped(std::size_t slot) const { return mapped_[slot]; }
  std::uint64_t life(std::uint64_t page) const {
    const auto it = lives_.find(page);
    return it == lives_.end() ? 0 : it->second;
  }

  // Over what was there.
  void map(std::size_t slot) {
    EXPECT_NE(
        ::mmap(at(slot), kPages * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
        MAP_FAILED);
    ended(slot, 0, kPages);
    mapped_[slot] = true;
  }
  void unmap(std::size_t slot, std::size_t page, std::size_t count) {
    EXPECT_EQ(::munmap(at(slot, page), count * kPageSize), 0);
    ended(slot, page, count);
    mapped_[slot] = false;  // not all of it
  }
  void discard(std::size_t slot, std::size_t page, std::size_t count, int advice) {
    EXPECT_EQ(::madvise(at(slot, page), count * kPageSize, advice), 0);
    ended(slot, page, count);
  }
  void move(std::size_t from, std::size_t to) {
    const auto* moved =
        ::mremap(at(from), kPages * kPageSize, kPages * kPageSize, MREMAP_MAYMOVE | MREMAP_FIXED, at(to));
    // Several mappings in a row: older kernels move none, newer ones some. What was at the goal has gone all the same.
    if (moved == MAP_FAILED) {
      map(from);
      map(to);
      return;
    }
    ended(from, 0, kPages);
    ended(to, 0, kPages);
    mapped_[from] = false;
    mapped_[to] = true;
  }

 private:
  void ended(std::size_t slot, std::size_t page, std::size_t count) {
    const auto gone = pages_at(at(slot, page), count);
    for (auto one = gone.first; one < gone.end(); ++one) ++lives_[one];
  }
  char* base_ = nullptr;
  std::array<bool, kSlots> mapped_{};
  std::map<std::uint64_t, std::uint64_t> lives_;
};

class Watched : public testing::Test {
 protected:
  Watched()
      : strategy_(parse_strategies("lru", cost_profiles()).value().front()),
        cache_({.pages = 300}, strategy_.policy, strategy_.options,
               [this](const Eviction& one) { handed_over_.push_back(one.pages); }),
        user_(cache_) {
    auto watch = MappingWatch::open(cache_, [this] {
      if (!keep_busy_.exchange(false)) return;
      busy_.set_value();
      go_on_.get_future().wait();
    });
    if (watch) watch_ = std::move(*watch);
  }
  void SetUp() override {
    if (!watch_) GTEST_SKIP() << "this kernel lets us have no userfaultfd";
  }

  // True if it was cached; registers it in the arena's present life else.
  bool get(Pages asked) {
    if (const auto id = user_.find(asked); id != kNoRegion) {
      for (auto page = asked.first; page < asked.end(); ++page)
        stale_ += registered_.at(page) == arena_.life(page) ? 0U : 1U;
      user_.release(id);
      return true;
    }
    if (!watch_->cover(asked)) return false;
    return user_.exclusively([&](RegionCache& cache) {
      const auto plan = cache.request(asked);
      auto leased = plan.covered;
      for (auto page = asked.first; page < asked.end(); ++page) {
        const bool gap = std::any_of(plan.gaps.begin(), plan.gaps.end(),
                                     [&](Pages one) { return page >= one.first && page < one.end(); });
        if (gap)
          registered_[page] = arena_.life(page);
        else
          stale_ += registered_.at(page) == arena_.life(page) ? 0U : 1U;
      }
      if (plan.kept)
        for (const auto& one : plan.gaps) cache.add(one, leased);
      const bool hit = plan.hit();
      cache.release(leased);
      return hit;
    });
  }

  Strategy strategy_;
  std::vector<Pages> handed_over_;
  std::atomic<bool> keep_busy_ = false;  // the watch, behind its next invalidation, until go_on_
  std::promise<void> busy_, go_on_;
  SharedCache cache_;
  SharedCache::User user_;
  std::unique_ptr<MappingWatch> watch_;
  Arena arena_;
  std::map<std::uint64_t, std::uint64_t> registered_;  // page -> the life in which it was
  std::uint64_t stale_ = 0;
};

TEST_F(Watched, EachWayToLoseAMappingIsHeardOf) {
  const auto whole = pages_at(arena_.at(0), Arena::kPages);
  const std::pair<const char*, std::function<void()>> ways[] = {
      {"munmap", [&] { arena_.unmap(0, 2, 1); }},
      {"mmap over it", [&] { arena_.map(0); }},
      {"MADV_DONTNEED", [&] { arena_.discard(0, 7, 1, MADV_DONTNEED); }},
      {"MADV_FREE", [&] { arena_.discard(0, 0, 1, MADV_FREE); }},
      {"mremap away", [&] { arena_.move(0, 1); }},
      {"mremap over it", [&] { arena_.move(1, 0); }},
  };
  for (const auto& [name, way] : ways) {
    SCOPED_TRACE(name);
    if (!arena_.mapped(0)) arena_.map(0);
    if (!arena_.mapped(1)) arena_.map(1);
    EXPECT_FALSE(get(whole));
    EXPECT_TRUE(get(whole));
    way();
    EXPECT_EQ(user_.find(whole), kNoRegion);
  }
  EXPECT_EQ(stale_, 0U);
}

TEST_F(Watched, ABrokenRegionIsDeregisteredBehindItsTransfer) {
  const auto whole = pages_at(arena_.at(0), Arena::kPages);
  get(whole);
  const auto id = user_.find(whole);
  ASSERT_NE(id, kNoRegion);
  arena_.unmap(0, 0, 1);
  cache_.reap();
  EXPECT_TRUE(cache_.broken());
  EXPECT_THAT(handed_over_, testing::IsEmpty());
  user_.release(id);
  cache_.reap();
  EXPECT_FALSE(cache_.broken());
  EXPECT_THAT(handed_over_, testing::ElementsAre(whole));
}

TEST_F(Watched, WhatCannotBeWatchedIsRefused) {
  EXPECT_FALSE(watch_->cover({1, 1}));
}

// munmap() gives its addresses away before its event is read, and returns after: another thread may map them again
// in between. The watch is kept from reading until that has happened.
TEST_F(Watched, WhatIsMappedWhereAnotherThreadsMunmapIsUnderWayIsNotTakenForTheOldRegion) {
  // Slots with neighbours on both sides: a thread's stack does not fit into their holes.
  const auto first = pages_at(arena_.at(1), Arena::kPages);
  const auto second = pages_at(arena_.at(3), Arena::kPages);
  get(first);
  get(second);
  keep_busy_ = true;
  arena_.unmap(1, 0, Arena::kPages);
  busy_.get_future().wait();
  EXPECT_TRUE(watch_->settled());
  std::atomic<bool> returned = false;
  std::jthread other{[&] {
    ::munmap(arena_.at(3), Arena::kPages * kPageSize);
    returned = true;
  }};
  void* again = MAP_FAILED;
  while (again == MAP_FAILED)
    again = ::mmap(arena_.at(3), Arena::kPages * kPageSize, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(again, arena_.at(3));
  EXPECT_FALSE(returned) << "else nothing was tried";
  // A bare find() is what documents tell it to be: no more than a lookup.
  const auto stale = user_.find(second);
  EXPECT_NE(stale, kNoRegion) << "the race is there";
  user_.release(stale);
  EXPECT_FALSE(watch_->settled());
  go_on_.set_value();
  watch_->settle();
  EXPECT_EQ(user_.find(second), kNoRegion);
  EXPECT_TRUE(watch_->cover(second)) << "what is covered was forgotten with its mapping";
  other.join();
  arena_.map(3);
}

TEST_F(Watched, AForkedChildFindsNothing) {
  const auto whole = pages_at(arena_.at(0), Arena::kPages);
  get(whole);
  const auto child = ::fork();
  if (child == 0) ::_exit(user_.find(whole) == kNoRegion ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(get(whole)) << "the parent keeps what it has";
}

// No stale hit, whatever happens. LONGHAUL_OPERATIONS=1000000 for the long run.
TEST_F(Watched, NothingStaleIsEverFound) {
  const char* asked = std::getenv("LONGHAUL_OPERATIONS");
  const auto operations = asked == nullptr ? 100'000L : std::atol(asked);
  std::mt19937 random{3};
  std::uint64_t hits = 0;
  for (long i = 0; i < operations; ++i) {
    const auto slot = random() % Arena::kSlots;
    const auto page = random() % Arena::kPages;
    const auto count = 1 + random() % (Arena::kPages - page);
    const auto what = random() % 1000;
    if (!arena_.mapped(slot) && what < 900) {
      if (random() % 4 == 0) arena_.map(slot);
    } else if (what < 860) {
      hits += get(pages_at(arena_.at(slot, page), count)) ? 1 : 0;
    } else if (what < 890) {
      arena_.discard(slot, page, count, random() % 2 == 0 ? MADV_DONTNEED : MADV_FREE);
    } else if (what < 930) {
      if (arena_.mapped(slot)) arena_.unmap(slot, page, count);
    } else if (what < 960) {
      arena_.map(slot);
    } else if (what < 999) {
      const auto to = random() % Arena::kSlots;
      if (to != slot && arena_.mapped(slot)) arena_.move(slot, to);
    } else if (i % 50 == 0) {
      if (const auto child = ::fork(); child == 0)
        ::_exit(user_.find(pages_at(arena_.at(slot), 1)) == kNoRegion ? 0 : 1);
      else
        ::waitpid(child, nullptr, 0);
    }
  }
  EXPECT_EQ(stale_, 0U);
  EXPECT_GT(hits, static_cast<std::uint64_t>(operations) / 50) << "else it shows nothing";
}

}  // namespace
}  // namespace longhaul::registration
