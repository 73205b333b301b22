#include "workloads/transport/sizing.hh"

#include <gmock/gmock.h>

#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(AckTimeout, FitsTheRoundTrip) {
  for (const auto rtt :
       {Nanoseconds{0ns}, Nanoseconds{100us}, Nanoseconds{40ms}, Nanoseconds{200ms}, Nanoseconds{2s}}) {
    const auto timeout = ack_timeout(ack_timeout_exponent(rtt));
    EXPECT_GE(timeout, 4 * rtt);
    EXPECT_GE(timeout, Nanoseconds{268ms});
    if (4 * rtt > Nanoseconds{268ms}) {
      EXPECT_LT(timeout, 8 * rtt);  // no larger than it must be
    }
  }
  EXPECT_EQ(ack_timeout(14), Nanoseconds{67'108'864});  // InfiniBand's table: 67.1 ms
}

TEST(AckTimeout, WithWindowsIsLongerThanAnyGapOfARun) {
  EXPECT_GE(ack_timeout(ack_timeout_exponent(Nanoseconds{0}, true)), Nanoseconds{8s});
  EXPECT_LT(ack_timeout(ack_timeout_exponent(Nanoseconds{200ms}, true)), Nanoseconds{10s});
  EXPECT_GE(ack_timeout(ack_timeout_exponent(Nanoseconds{5s}, true)), Nanoseconds{20s});
}

TEST(AckTimeout, FiveBitsAreTheMost) {
  EXPECT_EQ(ack_timeout_exponent(Nanoseconds{1h}), 31);
}

TEST(BytesUnderWay, IsTheProductButNoMoreThanThereIs) {
  const BitRate gigabit{1'000'000'000};
  EXPECT_EQ(bytes_under_way(gigabit, Nanoseconds{40ms}, Bytes{64}).count, 64);
  EXPECT_EQ(bytes_under_way(gigabit, Nanoseconds{40ms}, Bytes{100 << 20}).count, 5'000'000);
  EXPECT_EQ(bytes_under_way(BitRate{0}, Nanoseconds{40ms}, Bytes{1 << 20}).count, 1 << 20);
}

TEST(QueueDepth, HoldsThemWithinTheDevice) {
  EXPECT_EQ(queue_depth(Bytes{5'000'000}, Bytes{5000}, 16, 10'000), 1000U);
  EXPECT_EQ(queue_depth(Bytes{5'000'001}, Bytes{5000}, 16, 10'000), 1001U);
  EXPECT_EQ(queue_depth(Bytes{5'000'000}, Bytes{5000}, 16, 256), 256U);
  EXPECT_EQ(queue_depth(Bytes{64}, Bytes{64}, 16, 256), 16U);
  EXPECT_EQ(queue_depth(Bytes{0}, Bytes{0}, 16, 8), 8U);
}

TEST(BufferPlan, AsksOnlyWhereTuningDoesNotReach) {
  const BufferLimits limits{.tuned = 4'000'000, .requested = 16'000'000};
  const auto small = plan_buffer("send", Bytes{4'000'000}, limits);
  EXPECT_FALSE(small.request);
  EXPECT_THAT(small.limit, IsEmpty());
  const auto large = plan_buffer("send", Bytes{10'000'000}, limits);
  EXPECT_EQ(large.request, 10'000'000);
  EXPECT_THAT(large.limit, IsEmpty());
  const auto huge = plan_buffer("receive", Bytes{100'000'000}, limits);
  EXPECT_EQ(huge.request, 16'000'000);
  EXPECT_THAT(huge.limit, HasSubstr("tcp_rmem"));
}

TEST(BufferPlan, NeverMakesItSmaller) {
  const auto plan = plan_buffer("send", Bytes{10'000'000}, {.tuned = 4'000'000, .requested = 212'992});
  EXPECT_FALSE(plan.request);
  EXPECT_THAT(plan.limit, HasSubstr("4000000"));
}

TEST(WindowLimit, IsRxesPacketsInFlight) {
  EXPECT_THAT(window_limit("rxe", Bytes{1024}, Bytes{128 * 1024}), IsEmpty());
  EXPECT_THAT(window_limit("rxe", Bytes{1024}, Bytes{128 * 1024 + 1}), HasSubstr("128 packets of 1024"));
  EXPECT_THAT(window_limit("siw", Bytes{1500}, Bytes{4 << 20}), IsEmpty());
}

}  // namespace
}  // namespace longhaul::workloads
