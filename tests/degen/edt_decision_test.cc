// The very function that runs in the kernel, compiled for this machine; each test asks of it what scheduler_test.cc
// asks of engine nfqueue's.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "degen/engines/edt/plan.hh"
#include "degen/engines/nfqueue/scheduler.hh"
#include "degen/impairment/distribution.hh"
#include "tests/degen/edt_kernel.hh"

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kStart = 1'000'000'000;  // ns
constexpr std::uint64_t kMillisecond = 1'000'000;

EdtLink link_for(const Direction& direction) {
  const Impairment impairment{.forward = direction, .back = {}};
  const Sides sides{.client = {{"ra0"}}, .server = {{"rb0"}}};
  return edt::links_of(make_plan(impairment, "edt", sides, {})).at(0);
}

class Link : public test::EdtKernel {
 public:
  explicit Link(const Direction& direction, std::uint64_t seed = 7) : EdtKernel(link_for(direction), seed) {}
  /// As many packets, so far apart; when each leaves, by number. Those that are lost are missing.
  std::map<int, std::uint64_t> send(int count, std::uint64_t apart, std::uint32_t bytes = 1514) {
    std::map<int, std::uint64_t> due;
    for (int i = 0; i < count; ++i) {
      const auto decision = arrive(kStart + static_cast<std::uint64_t>(i) * apart, bytes);
      if (decision.fate == EDT_PASS) due[i] = decision.due;
    }
    return due;
  }
};

TEST(EdtDecision, ADelayCountsFromThePacketsArrivalAndNeedsNoState) {
  Link link{{.delay = 5ms}};
  EXPECT_TRUE(link.terms().delay_only);
  for (const auto& [i, due] : link.send(100, 3))
    EXPECT_EQ(due, kStart + static_cast<std::uint64_t>(i) * 3 + 5 * kMillisecond);
  EXPECT_EQ(link.state().packets, 0u);
}

TEST(EdtDecision, LossesAreAsManyAsAsked) {
  Link link{{.delay = 1ms, .loss = {100'000}}};
  const auto due = link.send(100'000, 1000);
  EXPECT_EQ(link.state().lost, 100'000 - due.size());
  EXPECT_NEAR(static_cast<double>(link.state().lost), 10'000, 300);
  EXPECT_EQ(link.state().overflowed, 0u);
}

TEST(EdtDecision, TheSameSeedLosesTheSamePackets) {
  const Direction direction{.delay = 1ms, .jitter = 500us, .loss = {50'000}};
  const auto first = Link{direction, 1}.send(1000, 1000);
  EXPECT_EQ((Link{direction, 1}.send(1000, 1000)), first);
  EXPECT_NE((Link{direction, 2}.send(1000, 1000)), first);
  // Which are lost depends on their number and the seed, not on when they come.
  std::vector<int> early, late;
  for (const auto& [i, due] : first) early.push_back(i);
  for (const auto& [i, due] : Link{direction, 1}.send(1000, 77'000)) late.push_back(i);
  EXPECT_EQ(early, late);
}

TEST(EdtDecision, WhatWouldBeLostIsMarkedWhereItCanBe) {
  const Direction direction{.delay = 1ms, .loss = {100'000}};
  auto marking = direction;
  marking.ecn = true;
  Link losing{direction}, link{marking}, deaf{marking};
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto at = kStart + i * 1000;
    const auto lost = losing.arrive(at, 1514, true).fate == EDT_LOSE;  // nobody asked for marks
    const auto marked = link.arrive(at, 1514, true);
    EXPECT_EQ(marked.fate, EDT_PASS);
    EXPECT_EQ(marked.mark, lost ? 1U : 0U);
    EXPECT_EQ(marked.due, at + kMillisecond);
    EXPECT_EQ(deaf.arrive(at).fate, lost ? EDT_LOSE : EDT_PASS);
  }
  EXPECT_EQ(link.state().marked, losing.state().lost);
  EXPECT_EQ(link.state().lost, 0u);
  EXPECT_EQ(deaf.state().lost, losing.state().lost);
}

TEST(EdtDecision, NothingAndEverythingAreCertain) {
  EXPECT_EQ((Link{{.delay = 1ms, .loss = {1'000'000}}}.send(10'000, 10).size()), 0u);
  EXPECT_EQ((Link{{.delay = 1ms, .reorder = {1}}}.send(10'000, 10).size()), 10'000u);
}

TEST(EdtDecision, LossesComeInBursts) {
  Link link{{.delay = 1ms, .loss = {100'000}, .loss_burst = 5}};
  const auto due = link.send(200'000, 1000);
  int bursts = 0;
  for (int i = 1; i < 200'000; ++i)
    if (!due.contains(i) && due.contains(i - 1)) ++bursts;
  EXPECT_NEAR(static_cast<double>(link.state().lost), 20'000, 1500);
  EXPECT_NEAR(static_cast<double>(link.state().lost) / bursts, 5, 0.5);
}

TEST(EdtDecision, ReorderedPacketsSkipTheDelayByAFlowOfTheirOwn) {
  Link link{{.delay = 5ms, .reorder = {200'000}}};
  int skipped = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto at = kStart + 10'000 * i;
    const auto decision = link.arrive(at);
    const bool at_once = decision.due == at;
    EXPECT_TRUE(at_once || decision.due == at + 5 * kMillisecond);
    EXPECT_EQ(decision.flow, at_once ? std::uint64_t{EDT_FLOW_AT_ONCE} : 0U);
    skipped += at_once ? 1 : 0;
  }
  EXPECT_NEAR(skipped, 400, 60);
}

TEST(EdtDecision, RateSpacesPacketsAndDelayComesOnTop) {
  // 1250 bytes at 10 Mbit/s take 1 ms each.
  for (const auto& [i, due] : Link{{.delay = 5ms, .rate = {10'000'000}}}.send(10, 0, 1250))
    EXPECT_EQ(due, kStart + (5 + static_cast<std::uint64_t>(i) + 1) * kMillisecond);
}

// A full queue holds as many full packets as nfqueue's, and what it turns away takes no time on the link.
TEST(EdtDecision, AFullQueueDropsAsNfqueuesDoes) {
  const Direction direction{.delay = 20ms, .rate = {10'000'000}};
  Link link{direction};
  const auto limit = queue_limit(direction, 20ms, 1500);
  Scheduler scheduler{direction, limit, 1};
  std::vector<Verdict> verdicts;
  std::uint64_t last = 0;
  // Twice as fast as the link for 1000 packets.
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const auto at = kStart + std::uint64_t{i} * 605'600;
    scheduler.release(Nanoseconds{static_cast<std::int64_t>(at)}, verdicts);
    scheduler.arrive({.id = i, .time = Nanoseconds{static_cast<std::int64_t>(at)}, .bytes = 1514}, verdicts);
    const auto decision = link.arrive(at);
    if (decision.fate == EDT_PASS) last = decision.due - at;
  }
  EXPECT_GT(scheduler.overflowed(), 300u);
  EXPECT_NEAR(static_cast<double>(link.state().overflowed), static_cast<double>(scheduler.overflowed()), 3);
  EXPECT_EQ(link.state().lost, 0u);
  // As long as the queue: `limit` packets of 1.2112 ms.
  EXPECT_NEAR(static_cast<double>(last), limit * 1'211'200.0, 2 * 1'211'200.0);
}

// The one on the link, and so many behind it; packets by their bytes.
TEST(EdtDecision, AQueueOfStatedLengthHoldsAsManyInEitherEngine) {
  const Direction direction{.delay = 20ms, .rate = {10'000'000}, .queue = 50};
  for (const std::uint32_t bytes : {1514U, 757U}) {
    Link link{direction};
    Scheduler scheduler{direction, 100'000, 1, queue_patience(direction, 1500)};
    std::vector<Verdict> verdicts;
    int passed = 0;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      const auto decision = link.arrive(kStart, bytes);
      passed += decision.fate == EDT_PASS ? 1 : 0;
      scheduler.arrive({.id = i, .time = Nanoseconds{static_cast<std::int64_t>(kStart)}, .bytes = bytes}, verdicts);
    }
    EXPECT_EQ(passed, 51 * 1514 / static_cast<int>(bytes));
    EXPECT_EQ(link.state().overflowed, scheduler.overflowed());
    EXPECT_EQ(scheduler.waiting(), static_cast<std::size_t>(passed));
    // A place is free as soon as the link has sent one.
    const auto later = kStart + std::uint64_t{bytes} * 800;
    EXPECT_EQ(link.arrive(later, bytes).fate, EDT_PASS);
    EXPECT_EQ(link.arrive(later, bytes).fate, EDT_OVERFLOW);
  }
}

TEST(EdtDecision, JitterKeepsOrderWhenAsked) {
  Link link{{.delay = 5ms, .jitter = 4ms}};
  std::uint64_t before = 0;
  for (const auto& [i, due] : link.send(1000, 100'000)) {
    const auto held = due - (kStart + static_cast<std::uint64_t>(i) * 100'000);
    EXPECT_GE(due, before);
    EXPECT_GE(held, 1 * kMillisecond);
    EXPECT_LE(held, 9 * kMillisecond);
    before = due;
  }
}

TEST(EdtDecision, FreeJitterSpreadsRoundTheDelayAndEachPacketHasItsFlow) {
  Link link{{.delay = 5ms, .jitter = 4ms, .keep_order = false}};
  std::set<std::uint64_t> flows;
  std::uint64_t before = 0;
  double sum = 0;
  int reordered = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto decision = link.arrive(kStart + i * 100'000);
    EXPECT_NE(decision.flow, static_cast<std::uint32_t>(EDT_FLOW_AT_ONCE));
    flows.insert(decision.flow);
    reordered += decision.due < before ? 1 : 0;
    before = decision.due;
    sum += static_cast<double>(decision.due - kStart - i * 100'000);
  }
  EXPECT_EQ(flows.size(), 1000u);
  EXPECT_GT(reordered, 100);
  EXPECT_NEAR(sum / 1000, 5e6, 2.5e5);
}

// Those of the impairment before may be due much later, and fq would hold these up behind them.
TEST(EdtDecision, PacketsOfANewImpairmentHaveAFlowOfTheirOwn) {
  const auto link = link_for({.delay = 5ms});
  for (const std::uint32_t generation : {1U, 2U, 65'535U, 65'536U, 65'537U}) {
    const auto before = edt::terms_of(link, {}, 1, generation - 1).flow;
    const auto flow = edt::terms_of(link, {}, 1, generation).flow;
    EXPECT_NE(flow, before);
    EXPECT_EQ(flow % 2, 0u);
    EXPECT_EQ(flow & EDT_FLOW_MASK, flow);
  }
}

TEST(EdtDecision, DrawsAreThoseOfTheDistribution) {
  for (const auto distribution : {Distribution::uniform, Distribution::normal, Distribution::pareto}) {
    const auto terms = edt::terms_of(link_for({.delay = 5ms, .jitter = 1ms, .distribution = distribution}), {}, 1);
    for (std::uint32_t random = 0; random < 5000; random += 3) {
      const auto expected =
          10 * kMillisecond + static_cast<std::uint64_t>(draw_deviation(distribution, 1ms, random).count());
      EXPECT_EQ(edt_jittered(&terms, 10 * kMillisecond, 0, random), expected);
    }
  }
}

TEST(EdtDecision, NothingLeavesBeforeItCame) {
  // A normal jitter reaches 4 deviations to either side.
  Link link{{.delay = 1ms, .jitter = 1ms, .distribution = Distribution::normal, .keep_order = false}};
  int at_once = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto at = kStart + i * 1000;
    const auto decision = link.arrive(at);
    EXPECT_GE(decision.due, at);
    at_once += decision.due == at ? 1 : 0;
  }
  EXPECT_NEAR(at_once, 1587, 150);  // those below -1
}

// 20 seeds, 16 classes of the table each: the generator is as good as what is asked of it. With 15 degrees of freedom
// chi-squared is below 52.4 in 99.9 % of 160 draws of it; the sum of 20, with 300, below 381.
TEST(EdtDecision, DrawsAreUniform) {
  for (std::uint64_t which = 0; which < DEGEN_PURPOSES; ++which) {
    double sums[2] = {0, 0};
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::map<std::uint64_t, int> counts[2];
      for (std::uint64_t packet = 0; packet < 16'000; ++packet) {
        const auto draw = degen_draw(seed, packet, which);
        ++counts[0][draw & 15];
        ++counts[1][draw >> 60];
      }
      for (const std::size_t half : {0U, 1U}) {
        double squared = 0;
        ASSERT_EQ(counts[half].size(), 16u);
        for (const auto& [value, count] : counts[half]) squared += std::pow(count - 1000.0, 2) / 1000.0;
        EXPECT_LT(squared, 52.4) << "purpose " << which << " seed " << seed;
        sums[half] += squared;
      }
    }
    for (const auto sum : sums) EXPECT_LT(sum, 381) << "purpose " << which;
  }
}

// By each order, whatever is between; the last one before which nothing was done is the one that does it.
TEST(EdtDecision, TheMomentOfATimeOrOfWorkIsFound) {
  for (const int count : {1, 2, 3, 7, 8, 100, 8192}) {
    Direction direction{.delay = 1ms, .rate = {8'000'000}};
    for (int i = 1; i < count; ++i)
      direction.schedule.changes.push_back(
          {.at = i * 1ms,
           .delay = i * 1ns,
           .loss = {},
           .rate = LinkRate{.rate = {8'000'000}, .down = i % 3 == 1 && i + 1 < count}});  // not for ever
    if (count == 1) direction.schedule.changes.push_back({.at = 0ms, .delay = 0ns, .loss = {}, .rate = {}});
    const auto link = link_for(direction);
    const auto terms = edt::terms_of(link, {}, 1);
    const auto moments = edt::moments_of(link);
    ASSERT_EQ(terms.moments, static_cast<std::uint32_t>(count));
    const auto found = [&](edt_order order, std::uint64_t value) {
      return edt_find(&terms, moments.data(), order, value) - moments.data();
    };
    for (std::int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(found(EDT_BY_TIME, moments[static_cast<std::size_t>(i)].at), i);
      EXPECT_EQ(found(EDT_BY_TIME, moments[static_cast<std::size_t>(i)].at + 999'999), i);
      // What a link that is down has done, its successor has done too.
      EXPECT_EQ(found(EDT_BY_WORK, moments[static_cast<std::size_t>(i)].work),
                i + (i % 3 == 1 && i + 1 < count ? 1 : 0));
    }
    EXPECT_EQ(found(EDT_BY_TIME, kStart * 86'400), count - 1);
  }
}

TEST(EdtDecision, WorkAndTimeAreEachOthersReverse) {
  for (const std::uint64_t rate : {1ULL, 20'000ULL, 12'345'678ULL, 1'000'000'000ULL, EDT_FASTEST}) {
    for (const std::uint64_t time :
         {0ULL, 1ULL, 999ULL, 1'000'000ULL, 999'999'999ULL, 1'000'000'001ULL, 86'400'000'000'000ULL}) {
      const auto back = edt_time_of(rate, edt_work_of(rate, time));
      EXPECT_LE(back, time) << rate;
      EXPECT_LE(time - back, 1 + EDT_NS_PER_SECOND / EDT_WORK_PER_BIT / rate) << rate << " bit/s " << time;
    }
  }
}

}  // namespace
}  // namespace longhaul::degen
