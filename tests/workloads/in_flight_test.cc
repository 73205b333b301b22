#include "workloads/protocols/in_flight.hh"

#include <gtest/gtest.h>

#include <deque>

namespace longhaul::workloads::stream {
namespace {

constexpr Nanoseconds kMillisecond{1'000'000};

// A path that takes a message each `spacing` and brings its acknowledgement a round trip later; the limit behind
// `duration`.
std::size_t settled(Nanoseconds spacing, Nanoseconds round_trip, std::size_t most, Nanoseconds duration) {
  InFlightLimit limit{most, round_trip};
  std::deque<observe::RawTime> under_way;  // when each will have been acknowledged
  std::uint64_t posted = 0;
  constexpr observe::RawTime kBegin{};
  auto free = kBegin;
  for (auto now = kBegin; now < kBegin + duration;) {
    while (under_way.size() < limit.size()) {
      free = std::max(free, now) + spacing;
      under_way.push_back(free + round_trip);
      ++posted;
    }
    now = under_way.front();
    under_way.pop_front();
    limit.delivered(1, posted, now);
  }
  return limit.size();
}

TEST(InFlightLimit, BecomesTwiceTheBandwidthDelayProduct) {
  // A message a ms over 40 ms: 40 are under way.
  EXPECT_NEAR(static_cast<double>(settled(kMillisecond, 40 * kMillisecond, 1024, 1000 * kMillisecond)), 96, 8);
  // Ten times as fast: 400.
  EXPECT_NEAR(static_cast<double>(settled(kMillisecond / 10, 40 * kMillisecond, 4096, 1000 * kMillisecond)), 816, 40);
}

TEST(InFlightLimit, FillsAFastPathWithinTwelveRoundTrips) {
  EXPECT_GT(settled(kMillisecond / 100, 40 * kMillisecond, 8192, 12 * 40 * kMillisecond), 4000U);
}

TEST(InFlightLimit, StaysSmallWhereThePathIsSlowOrShort) {
  EXPECT_LE(settled(6 * kMillisecond, 40 * kMillisecond, 1024, 5000 * kMillisecond), 32U);
  EXPECT_LE(settled(kMillisecond, kMillisecond / 10, 1024, 1000 * kMillisecond), 20U);
}

TEST(InFlightLimit, IsNeverMoreThanTheQueueHolds) {
  EXPECT_EQ(settled(kMillisecond / 100, 40 * kMillisecond, 64, 1000 * kMillisecond), 64U);
  EXPECT_EQ((InFlightLimit{4, kMillisecond}.size()), 4U);
}

}  // namespace
}  // namespace longhaul::workloads::stream
