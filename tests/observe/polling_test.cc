#include "observe/polling.hh"

#include <gtest/gtest.h>

#include <thread>

#include "observe/clock.hh"

namespace longhaul::observe {
namespace {

// A round that takes some 2 us.
void round() {
  volatile int work = 0;
  for (int i = 0; i < 1'000; ++i) work = work + 1;
}

TEST(Polling, IsTheRoundsThatFoundNothing) {
  Polling polling;
  const auto start = raw_time();
  for (int i = 0; i < 2'000; ++i) {
    round();
    polling.nothing();
    if (i % 100 == 99) polling.something();  // each row is timed once: twenty times, of which the fastest counts
  }
  const auto took = static_cast<double>((raw_time() - start).count());
  EXPECT_TRUE(polling.used());
  EXPECT_GT(polling.spent_since({}), 0);
  EXPECT_LE(static_cast<double>(polling.spent_since({})), 1.1 * took)
      << "no more than passed, but for the clock's reading in what was timed";
  const auto before = polling;
  round();
  polling.something();
  EXPECT_EQ(polling.spent_since(before), 0) << "what finds something is work";
  polling.nothing();
  EXPECT_NEAR(static_cast<double>(polling.spent_since(before)), static_cast<double>(polling.spent_since({})) / 2001, 1);
}

TEST(Polling, OfALoopThatAlwaysFindsSomethingIsNone) {
  Polling polling;
  EXPECT_FALSE(polling.used());
  for (int i = 0; i < 100; ++i) polling.something();
  EXPECT_TRUE(polling.used());
  EXPECT_EQ(polling.spent_since({}), 0);
}

TEST(Polling, IsEachThreadsOwn) {
  polling().nothing();
  std::thread{[] { EXPECT_FALSE(polling().used()); }}.join();
}

}  // namespace
}  // namespace longhaul::observe
