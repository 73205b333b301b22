#include "degen/engines/nfqueue/scheduler.hh"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace longhaul::degen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

// Runs all arrivals and gives each packet's time of release, as a kernel would see it that wakes the thread exactly
// when the next packet is due. Dropped packets are missing.
std::map<std::uint32_t, Nanoseconds> run(Scheduler& scheduler, const std::vector<PacketArrival>& arrivals,
                                         std::vector<std::uint32_t>* order = nullptr) {
  std::map<std::uint32_t, Nanoseconds> released;
  std::set<std::uint32_t> queued;
  const auto obey = [&](const std::vector<Verdict>& verdicts, Nanoseconds now) {
    for (const auto& verdict : verdicts) {
      if (verdict.kind == VerdictKind::accept_through) {
        while (!queued.empty() && *queued.begin() <= verdict.id) {
          released[*queued.begin()] = now;
          if (order != nullptr) order->push_back(*queued.begin());
          queued.erase(queued.begin());
        }
        continue;
      }
      EXPECT_EQ(queued.erase(verdict.id), 1u);
      if (verdict.kind == VerdictKind::drop) continue;
      released[verdict.id] = now;
      if (order != nullptr) order->push_back(verdict.id);
    }
  };
  const auto release_until = [&](Nanoseconds end) {
    while (scheduler.next() && *scheduler.next() <= end) {
      const auto now = *scheduler.next();
      std::vector<Verdict> verdicts;
      scheduler.release(now, verdicts);
      obey(verdicts, now);
    }
  };
  for (const auto& arrival : arrivals) {
    release_until(arrival.time);
    queued.insert(arrival.id);
    std::vector<Verdict> verdicts;
    scheduler.arrive(arrival, verdicts);
    obey(verdicts, arrival.time);
  }
  release_until(Nanoseconds::max());
  EXPECT_THAT(queued, IsEmpty());
  return released;
}

std::vector<PacketArrival> packets(std::uint32_t count, Nanoseconds spacing, std::uint32_t bytes = 100) {
  std::vector<PacketArrival> arrivals;
  for (std::uint32_t i = 0; i < count; ++i) arrivals.push_back({.id = i + 1, .time = 1s + i * spacing, .bytes = bytes});
  return arrivals;
}

TEST(Scheduler, ABurstOf64KeepsItsSpacingAndOrder) {
  Scheduler scheduler{{.delay = 20ms}, 1000, 1};
  const auto arrivals = packets(64, 3us);
  std::vector<std::uint32_t> order;
  const auto released = run(scheduler, arrivals, &order);
  ASSERT_EQ(released.size(), 64u);
  for (const auto& arrival : arrivals) EXPECT_EQ(released.at(arrival.id), arrival.time + 20ms);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Scheduler, ALateWakeUpReleasesAllThatAreDueInOneVerdict) {
  Scheduler scheduler{{.delay = 1ms}, 1000, 1};
  std::vector<Verdict> verdicts;
  for (const auto& arrival : packets(10, 10us)) scheduler.arrive(arrival, verdicts);
  EXPECT_THAT(verdicts, IsEmpty());
  scheduler.release(1s + 1ms + 45us, verdicts);
  EXPECT_THAT(verdicts, ElementsAre(Verdict{VerdictKind::accept_through, 5}));
  EXPECT_EQ(scheduler.next(), 1s + 1ms + 50us);  // the others still count from their own arrival
  scheduler.flush(verdicts);
  EXPECT_EQ(scheduler.waiting(), 0u);
  EXPECT_EQ(verdicts.back(), (Verdict{VerdictKind::accept_through, 10}));
}

TEST(Scheduler, ArrivalsMayComeLateToTheThread) {
  // Seen 3 ms after they arrived: they are released at once, not 3 ms too late.
  Scheduler scheduler{{.delay = 2ms}, 1000, 1};
  std::vector<Verdict> verdicts;
  for (const auto& arrival : packets(3, 10us)) scheduler.arrive(arrival, verdicts);
  scheduler.release(1s + 3ms, verdicts);
  EXPECT_THAT(verdicts, ElementsAre(Verdict{VerdictKind::accept_through, 3}));
}

TEST(Scheduler, AFullQueueDropsAndCounts) {
  Scheduler scheduler{{.delay = 1ms}, 5, 1};
  std::vector<Verdict> verdicts;
  for (const auto& arrival : packets(7, 1us)) scheduler.arrive(arrival, verdicts);
  EXPECT_THAT(verdicts, ElementsAre(Verdict{VerdictKind::drop, 6}, Verdict{VerdictKind::drop, 7}));
  EXPECT_EQ(scheduler.overflowed(), 2u);
  EXPECT_EQ(scheduler.lost(), 0u);
}

TEST(Scheduler, LossesAreAsAsked) {
  Scheduler scheduler{{.delay = 1ms, .loss = {100'000}}, 100'000, 7};
  const auto released = run(scheduler, packets(100'000, 1us));
  EXPECT_EQ(scheduler.lost(), 100'000 - released.size());
  EXPECT_NEAR(static_cast<double>(scheduler.lost()), 10'000, 300);
}

TEST(Scheduler, TheSameSeedLosesTheSamePackets) {
  const auto lost = [](std::uint64_t seed, const Direction& direction) {
    Scheduler scheduler{direction, 1000, seed};
    const auto released = run(scheduler, packets(1000, 10us));
    std::set<std::uint32_t> missing;
    for (std::uint32_t id = 1; id <= 1000; ++id)
      if (!released.contains(id)) missing.insert(id);
    return missing;
  };
  const auto first = lost(1, {.delay = 1ms, .loss = {50'000}});
  EXPECT_EQ(lost(1, {.delay = 1ms, .loss = {50'000}}), first);
  EXPECT_NE(lost(2, {.delay = 1ms, .loss = {50'000}}), first);
  // Whatever else is drawn.
  EXPECT_EQ(lost(1, {.delay = 5ms, .jitter = 2ms, .loss = {50'000}, .reorder = {10'000}}), first);
}

TEST(Scheduler, LossesComeInBursts) {
  Scheduler scheduler{{.delay = 1ms, .loss = {100'000}, .loss_burst = 5}, 200'000, 7};
  const auto released = run(scheduler, packets(200'000, 1us));
  std::uint64_t bursts = 0;
  for (std::uint32_t id = 2; id <= 200'000; ++id)
    if (!released.contains(id) && released.contains(id - 1)) ++bursts;
  EXPECT_NEAR(static_cast<double>(scheduler.lost()), 20'000, 1500);
  EXPECT_NEAR(static_cast<double>(scheduler.lost()) / static_cast<double>(bursts), 5, 0.5);
}

TEST(Scheduler, RateSpacesPacketsAndDelayComesOnTop) {
  // 1250 bytes at 10 Mbit/s take 1 ms each.
  Scheduler scheduler{{.delay = 5ms, .rate = {10'000'000}}, 100, 1};
  const auto released = run(scheduler, packets(10, 0us, 1250));
  for (std::uint32_t id = 1; id <= 10; ++id) EXPECT_EQ(released.at(id), 1s + 5ms + id * 1ms);
}

TEST(Scheduler, JitterKeepsOrderWhenAsked) {
  Scheduler scheduler{{.delay = 5ms, .jitter = 4ms}, 10'000, 3};
  std::vector<std::uint32_t> order;
  const auto arrivals = packets(1000, 100us);
  const auto released = run(scheduler, arrivals, &order);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  for (const auto& arrival : arrivals) {
    EXPECT_GE(released.at(arrival.id) - arrival.time, 1ms);
    EXPECT_LE(released.at(arrival.id) - arrival.time, 9ms);
  }
}

TEST(Scheduler, FreeJitterSpreadsRoundTheDelayAndReorders) {
  Scheduler scheduler{{.delay = 5ms, .jitter = 4ms, .keep_order = false}, 10'000, 3};
  std::vector<std::uint32_t> order;
  const auto arrivals = packets(1000, 100us);
  const auto released = run(scheduler, arrivals, &order);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 1000u);
  Nanoseconds sum{0};
  for (const auto& arrival : arrivals) sum += released.at(arrival.id) - arrival.time;
  EXPECT_NEAR(static_cast<double>((sum / 1000).count()), 5e6, 2.5e5);
}

TEST(Scheduler, ReorderedPacketsSkipTheDelay) {
  Scheduler scheduler{{.delay = 5ms, .reorder = {200'000}}, 10'000, 5};
  const auto arrivals = packets(2000, 10us);
  const auto released = run(scheduler, arrivals);
  int skipped = 0;
  for (const auto& arrival : arrivals) {
    const auto held = released.at(arrival.id) - arrival.time;
    EXPECT_TRUE(held == 0ms || held == 5ms);
    if (held == 0ms) ++skipped;
  }
  EXPECT_NEAR(skipped, 400, 60);
}

TEST(Scheduler, WhatWouldBeLostIsMarkedWhereItCanBe) {
  Scheduler losing{{.delay = 1ms, .loss = {100'000}}, 100'000, 7};
  Scheduler marking{{.delay = 1ms, .loss = {100'000}, .ecn = true}, 100'000, 7};
  Scheduler deaf{{.delay = 1ms, .loss = {100'000}, .ecn = true}, 100'000, 7};
  std::vector<Verdict> verdicts;
  for (auto arrival : packets(10'000, 1us)) {
    const auto before = losing.lost();
    deaf.arrive(arrival, verdicts);
    arrival.ecn_capable = true;
    losing.arrive(arrival, verdicts);
    EXPECT_EQ(marking.arrive(arrival, verdicts).mark, losing.lost() > before);
  }
  EXPECT_GT(losing.lost(), 900u);
  EXPECT_EQ(marking.marked(), losing.lost());
  EXPECT_EQ(marking.lost(), 0u);
  EXPECT_EQ(deaf.lost(), losing.lost());
}

TEST(Scheduler, BitsAreFlippedInAsManyPacketsAsAsked) {
  Scheduler scheduler{{.delay = 1ms, .corrupt = {100'000}}, 200'000, 7};
  std::vector<Verdict> verdicts;
  std::uint64_t flipped = 0;
  for (const auto& arrival : packets(100'000, 1us)) flipped += scheduler.arrive(arrival, verdicts).flip ? 1 : 0;
  EXPECT_EQ(scheduler.corrupted(), flipped);
  EXPECT_NEAR(static_cast<double>(flipped), 10'000, 300);
  EXPECT_EQ(scheduler.lost(), 0u);
}

TEST(Scheduler, AChangedPacketHasAVerdictOfItsOwnInItsTurn) {
  // Its bytes go with the verdict, so it must not be among those that another one lets go.
  Scheduler scheduler{{.delay = 1ms, .corrupt = {500'000}}, 1000, 7};
  std::set<std::uint32_t> changed;
  std::vector<Verdict> verdicts;
  for (const auto& arrival : packets(100, 1us))
    if (scheduler.arrive(arrival, verdicts).any()) changed.insert(arrival.id);
  scheduler.flush(verdicts);
  ASSERT_GT(changed.size(), 20u);
  std::uint32_t next = 1;
  for (const auto& verdict : verdicts) {
    EXPECT_EQ(verdict.kind == VerdictKind::accept, changed.contains(verdict.id)) << verdict.id;
    EXPECT_TRUE(verdict.kind == VerdictKind::accept_through || verdict.id == next);
    for (; next <= verdict.id; ++next) EXPECT_EQ(changed.contains(next), verdict.kind == VerdictKind::accept);
  }
  EXPECT_EQ(next, 101u);
}

Direction with_faults(const std::string& text, Nanoseconds delay = 5ms) {
  return {.delay = delay, .faults = parse_faults(text).value()};
}

TEST(SchedulerFaults, DropTheNumberedPacketsAndNoOthers) {
  Scheduler scheduler{with_faults("drop 3, drop 5-6"), 1000, 1};
  const auto released = run(scheduler, packets(8, 10us));
  for (const std::uint32_t id : {1u, 2u, 4u, 7u, 8u}) EXPECT_EQ(released.at(id), 1s + (id - 1) * 10us + 5ms) << id;
  EXPECT_EQ(released.size(), 5u);
  EXPECT_EQ(scheduler.lost(), 3u);
  EXPECT_EQ(scheduler.numbered(), 8u);
}

TEST(SchedulerFaults, ADelayedPacketIsOvertaken) {
  Scheduler scheduler{with_faults("delay 2 by 3ms"), 1000, 1};
  std::vector<std::uint32_t> order;
  const auto released = run(scheduler, packets(4, 1ms), &order);
  EXPECT_EQ(released.at(2), 1s + 1ms + 5ms + 3ms);
  EXPECT_EQ(released.at(3), 1s + 2ms + 5ms);
  EXPECT_THAT(order, ElementsAre(1, 3, 4, 2));
}

TEST(SchedulerFaults, ASwappedPacketLeavesRightBehindTheNext) {
  Scheduler scheduler{with_faults("swap 2"), 1000, 1};
  std::vector<std::uint32_t> order;
  const auto released = run(scheduler, packets(4, 1ms), &order);
  EXPECT_THAT(order, ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(released.at(2), released.at(3));
  EXPECT_EQ(released.at(3), 1s + 2ms + 5ms);
}

TEST(SchedulerFaults, ASwappedPacketThatNobodyFollowsLeavesInTheEnd) {
  Scheduler scheduler{with_faults("swap 2"), 1000, 1};
  const auto released = run(scheduler, packets(2, 1ms));
  EXPECT_EQ(released.at(2), 1s + 1ms + 5ms + Scheduler::kSwapPatience);
  EXPECT_EQ(scheduler.waiting(), 0u);
}

TEST(SchedulerFaults, ProbesHaveNoNumber) {
  Scheduler scheduler{with_faults("drop 2, swap 3"), 1000, 1};
  auto arrivals = packets(6, 1ms);
  arrivals[1].key = arrivals[4].key = {.protocol = 17, .from = 40000, .to = 7473};
  // So 3 is the second, 4 the third, 6 its follower
  std::vector<std::uint32_t> order;
  const auto released = run(scheduler, arrivals, &order);
  EXPECT_FALSE(released.contains(3));
  EXPECT_THAT(order, ElementsAre(1, 2, 5, 6, 4));
  EXPECT_EQ(scheduler.numbered(), 4u);
}

TEST(SchedulerFaults, WithoutThemNothingIsCounted) {
  Scheduler scheduler{{.delay = 1ms}, 1000, 1};
  run(scheduler, packets(5, 1ms));
  EXPECT_EQ(scheduler.numbered(), 0u);
}

}  // namespace
}  // namespace longhaul::degen
