#include "workloads/harness/computation.hh"

#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>
#include <vector>

namespace longhaul::workloads {
namespace {

using testing::HasSubstr;

TEST(Computation, NoneIsNone) {
  const Computation none{Nanoseconds{0}};
  EXPECT_EQ(none.iterations(), 0U);
  EXPECT_LT(none.time(), std::chrono::milliseconds{1});
  EXPECT_NO_THROW(none.check(5000));
}

// The thread's own processor time: what other programs take does not count.
std::int64_t processor_time(const Computation& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
  };
  const auto start = now();
  work.run();
  return now() - start;
}

TEST(Computation, TenTimesTheIterationsTakeTenTimesAsLong) {
  const Computation brief{Nanoseconds{500'000}};
  const Computation extended{Nanoseconds{5'000'000}};
  const auto expected = static_cast<double>(extended.iterations()) / static_cast<double>(brief.iterations());
  std::vector<double> ratios;
  for (int i = 0; i < 15; ++i) {
    const auto one = static_cast<double>(processor_time(brief));
    ratios.push_back(static_cast<double>(processor_time(extended)) / one / expected);
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_GT(ratios[7], 0.7);
  EXPECT_LT(ratios[7], 1.4);
}

TEST(Computation, IsAnAmountNotATime) {
  const Computation work{Nanoseconds{1'000'000}};
  EXPECT_GT(work.iterations(), 1000U);
  EXPECT_EQ(work.length(), std::chrono::milliseconds{1});
}

TEST(Computation, LearnsFromWhatItTook) {
  Computation work{Nanoseconds{1'000'000}};
  const auto before = static_cast<double>(work.iterations());
  for (int i = 0; i < 9; ++i)
    work.learn(std::chrono::milliseconds{i < 2 ? 50 : 2});  // interrupted twice; else half the speed
  EXPECT_NEAR(static_cast<double>(work.iterations()), before / 2, before * 0.01);
  Computation none{Nanoseconds{0}};
  none.learn(std::chrono::microseconds{1});
  EXPECT_EQ(none.iterations(), 0U);
}

TEST(Computation, AChangedSpeedIsSaid) {
  const Computation work{Nanoseconds{1'000'000}};
  EXPECT_NO_THROW(work.check(1'090'000));
  EXPECT_NO_THROW(work.check(910'000));
  try {
    work.check(1'200'000);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the computation of 1ms took 1.2ms by itself"));
  }
}

// Nothing makes work shorter by more work: an overlap_ratio above 1 would say so.
TEST(Computation, AWholeThatIsShorterThanItsPartIsSaid) {
  EXPECT_NO_THROW(Computation::check_contained(1'090'000, 1'000'000));
  EXPECT_NO_THROW(Computation::check_contained(0, 0));
  try {
    Computation::check_contained(2'000'000, 680'000);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("took 2ms by itself and 680us with an exchange around it: the processor changed "
                          "its speed"));
  }
}

}  // namespace
}  // namespace longhaul::workloads
