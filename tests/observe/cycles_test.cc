#include "observe/cycles.hh"

#include <gtest/gtest.h>

#include <thread>

#include "observe/clock.hh"

namespace longhaul::observe {
namespace {

void spin(std::int64_t duration) {
  const auto until = raw_time() + std::chrono::nanoseconds{duration};
  while (raw_time() < until) {
  }
}

TEST(CycleCounter, CountsThisProcessAndThreadsBegunLater) {
  const CycleCounter counter;
  const auto start = counter.read();
  if (!start) GTEST_SKIP() << "this machine has no counter of cycles, or does not let us use it";
  spin(20'000'000);
  const auto own = counter.read().value();
  EXPECT_GT(own - *start, 2'000'000);  // 100 MHz at the least
  std::thread{spin, 20'000'000}.join();
  EXPECT_GT(counter.read().value() - own, 2'000'000);
}

}  // namespace
}  // namespace longhaul::observe
