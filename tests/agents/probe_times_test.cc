#include "agents/probe_times.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace longhaul::agents {
namespace {

constexpr std::int64_t kInterval = 5'000'000;

std::vector<Nanoseconds> times_of(std::int64_t count, std::uint64_t seed) {
  ProbeRequest request;
  request.count = count;
  request.interval = kInterval;
  request.seed = seed;
  return probe_times(request);
}

TEST(ProbeTimes, EachLiesAnywhereInItsOwnInterval) {
  const auto times = times_of(10'000, 1);
  ASSERT_EQ(times.size(), 10'000U);
  std::array<int, 10> tenths{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto within = times[i].count() - static_cast<std::int64_t>(i) * kInterval;
    ASSERT_GE(within, 0) << i;
    ASSERT_LT(within, kInterval) << i;
    ++tenths[static_cast<std::size_t>(within * 10 / kInterval)];
  }
  // 1,000 +- four standard deviations of the binomial distribution.
  for (const auto tenth : tenths) EXPECT_NEAR(tenth, 1000, 120);
}

TEST(ProbeTimes, AreThoseOfTheSeed) {
  EXPECT_EQ(times_of(20, 7), times_of(20, 7));
  EXPECT_NE(times_of(20, 7), times_of(20, 8));
}

// A share of probes near which another one leaves a router that delays by `delay`.
double meet(const std::vector<Nanoseconds>& times, Nanoseconds delay) {
  const auto met = std::count_if(times.begin(), times.end(), [&](Nanoseconds one) {
    return std::any_of(times.begin(), times.end(), [&](Nanoseconds other) {
      return std::chrono::abs(other + delay - one) < std::chrono::microseconds{30};
    });
  });
  return static_cast<double>(met) / static_cast<double>(times.size());
}

TEST(ProbeTimes, DoNotMeetOneAnotherAtAnyDelay) {
  const auto times = times_of(1000, 3);
  // By chance in 60 us of 5 ms: 1.2 %. At a fixed interval all of them did at 5 and 20 ms.
  for (const int ms : {5, 7, 20}) EXPECT_LT(meet(times, std::chrono::milliseconds{ms}), 0.025) << ms;
  // As they would with a workload that sends once a millisecond.
  const auto in_step = std::count_if(times.begin(), times.end(), [](Nanoseconds time) {
    return time % std::chrono::milliseconds{1} < std::chrono::microseconds{50};
  });
  EXPECT_NEAR(static_cast<double>(in_step), 50, 30);
}

}  // namespace
}  // namespace longhaul::agents
