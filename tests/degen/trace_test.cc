#include "degen/impairment/trace.hh"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "degen/engines/nfqueue/scheduler.hh"

namespace longhaul::degen {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

std::string refusal(const std::string& text, Nanoseconds step = kTraceStep) {
  const auto read = read_trace(text, step);
  return read ? "read: " + to_text(*read) : read.error().message;
}

TEST(Trace, MahimahisOpportunitiesBecomeRates) {
  // 2 of 1514 bytes in the first 100 ms, none in the next, 1 in the last 50.
  const auto read = read_trace("10\n20\n250\n", 100ms);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(*read), "0 rate 242.24kbit/s, 100ms down, 200ms rate 242.24kbit/s, repeat 250ms");
  EXPECT_EQ(to_text(*read_trace("1\r\n\n2\n3\n100\n", 100ms)), "0 rate 484.48kbit/s, repeat 100ms");
}

TEST(Trace, OfCsvKeepsWhatItSays) {
  const auto read =
      read_trace("time,delay,loss,rate\n0s,20ms,,10Mbit/s\n2s,,1%,\n\n4s,,,down\n5s,,,1Mbit/s\n6s,,,\n", 100ms);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(*read), "0 delay 20ms rate 10Mbit/s, 2s loss 1%, 4s down, 5s rate 1Mbit/s");
}

TEST(Trace, WhatIsNoneIsRefusedByItsLine) {
  EXPECT_THAT(refusal(""), HasSubstr("the trace is empty"));
  EXPECT_THAT(refusal("10\nten\n"), HasSubstr("line 2: 'ten': expected a time in milliseconds"));
  EXPECT_THAT(refusal("10\n\n9\n"), HasSubstr("line 3: 9 ms comes behind 10 ms"));
  EXPECT_THAT(refusal("10 20\n"), HasSubstr("line 1: '10 20'"));
  EXPECT_THAT(refusal("99999999999\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("0\n0\n"), HasSubstr("it has no length"));
  EXPECT_THAT(refusal("time,speed\n"), HasSubstr("line 1: column 'speed'"));
  EXPECT_THAT(refusal("time,delay,delay\n"), HasSubstr("line 1: column 'delay'"));
  EXPECT_THAT(refusal("delay,time\n"), HasSubstr("the first column is time"));
  EXPECT_THAT(refusal("time,delay\n1s,5ms,3\n"), HasSubstr("line 2: 3 values for 2 columns"));
  EXPECT_THAT(refusal("time,delay\n1s,5\n"), HasSubstr("line 2: '1s delay 5'"));
  EXPECT_THAT(refusal("time,delay\n1s,5ms\n1s,6ms\n"), HasSubstr("times ascend"));
  EXPECT_THAT(refusal("time,delay\n"), HasSubstr("nothing changes"));
  EXPECT_THAT(refusal("10\n", 100us), HasSubstr("outside 1ms to"));
  std::string many;
  for (int i = 1; i < 20'000; ++i) many += fmt::format("{}\n{}\n", 3 * i, 3 * i + i % 2);
  EXPECT_THAT(refusal(many, 1ms), HasSubstr("give longer steps"));
}

// A mobile downlink: a rate that walks between none and 24 Mbit/s, with outages.
std::vector<int> opportunities(std::chrono::milliseconds length) {
  std::mt19937 random{19};
  std::vector<int> all;
  double mean = 1;
  int outage = 0;
  for (auto at = 0ms; at < length; at += 1ms) {
    mean = std::clamp(mean + std::normal_distribution<>{0, 0.02}(random), 0.05, 2.0);
    if (outage == 0 && std::uniform_real_distribution<>{}(random) < 0.0003) outage = 400;
    if (outage > 0) --outage;
    all.push_back(outage > 0 ? 0 : std::poisson_distribution<>{mean}(random));
  }
  all.back() = 1;  // where the trace ends
  return all;
}

TEST(Trace, OfAMinuteDeliversWhatMahimahiWouldInEach100Milliseconds) {
  constexpr auto kLength = 60s;
  const auto expected = opportunities(kLength);
  std::string text;
  for (std::size_t ms = 0; ms < expected.size(); ++ms)
    for (int i = 0; i < expected[ms]; ++i) text += fmt::format("{}\n", ms);
  const auto schedule = read_trace(text, kTraceStep);
  ASSERT_TRUE(schedule) << schedule.error().message;

  const Nanoseconds begin = 100s;
  const Direction direction{.delay = 20ms, .queue = 100, .schedule = *schedule};
  constexpr std::uint32_t kBytes = 1500 + kLinkHeader;
  Scheduler scheduler{direction, 1000, 1, {}, {.begin = begin, .room = 101 * kBytes}};
  std::vector<Verdict> verdicts;
  std::vector<std::int64_t> delivered(kLength / 100ms);
  // Always more than the link takes: one each 100 us. The queue's limit drops the rest.
  std::uint32_t id = 0;
  std::uint32_t through = 0;
  std::set<std::uint32_t> queued;
  for (auto now = begin; now < begin + kLength + 20ms; now += 100us) {
    verdicts.clear();
    scheduler.release(now, verdicts);
    for (const auto& verdict : verdicts) {
      ASSERT_EQ(verdict.kind, VerdictKind::accept_through);
      const auto last = queued.upper_bound(verdict.id);
      const auto bin = static_cast<std::size_t>((now - 1ns - begin - 20ms) / 100ms);
      if (bin < delivered.size()) delivered[bin] += std::distance(queued.begin(), last);
      queued.erase(queued.begin(), last);
      through = verdict.id;
    }
    verdicts.clear();
    scheduler.arrive({.id = ++id, .time = now, .bytes = kBytes}, verdicts);
    if (verdicts.empty()) queued.insert(id);
  }
  EXPECT_GT(through, 0u);
  EXPECT_GT(scheduler.overflowed(), 0u);
  std::int64_t all = 0;
  for (std::size_t bin = 0; bin < delivered.size(); ++bin) {
    std::int64_t wanted = 0;
    for (std::size_t ms = 0; ms < 100; ++ms) wanted += expected[bin * 100 + ms];
    // The packet on the link when a step ends may be one of either.
    EXPECT_NEAR(static_cast<double>(delivered[bin]), static_cast<double>(wanted), 1) << bin * 100 << " ms";
    all += delivered[bin] - wanted;
  }
  EXPECT_LE(std::abs(all), 1);
}

}  // namespace
}  // namespace longhaul::degen
