#include "observe/cpu.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/clock.hh"

namespace longhaul::observe {
namespace {

constexpr const char* kStat =
    "cpu  30 3 6 100 10 4 8 2 0 0\n"
    "cpu0 10 1 2 50 5 1 3 2 0 0\n"
    "cpu3 20 2 4 50 5 3 5 0 7 0\n"
    "intr 123456 0 0\n"
    "cpufake\n";

TEST(ParseProcStat, ReadsEachProcessorInNanoseconds) {
  const auto cpus = parse_proc_stat(kStat, 100);
  ASSERT_TRUE(cpus) << cpus.error().message;
  ASSERT_EQ(cpus->size(), 2u);
  const CpuTimes third{.user = 200'000'000,
                       .nice = 20'000'000,
                       .system = 40'000'000,
                       .irq = 30'000'000,
                       .softirq = 50'000'000,
                       .steal = 0,
                       .idle = 550'000'000};
  EXPECT_EQ(cpus->at(3), third);
}

TEST(ParseProcStat, RefusesWhatIsNone) {
  EXPECT_FALSE(parse_proc_stat("", 100));
  EXPECT_FALSE(parse_proc_stat("cpu0 1 2 3\n", 100));
  EXPECT_FALSE(parse_proc_stat("cpu0 1 2 3 x 5 6 7 8\n", 100));
  EXPECT_FALSE(parse_proc_stat("cpux 1 2 3 4 5 6 7 8\n", 100));
}

TEST(CpuUse, SumsTheProcessorsAskedFor) {
  CpuSample start{.time = 1000, .cpus = {{0, {}}, {1, {}}}, .process_user = 5, .process_system = 6};
  CpuSample stop{.time = 3000,
                 .cpus = {{0, {.user = 10, .idle = 90}}, {1, {.user = 20, .softirq = 5}}, {2, {.user = 99}}},
                 .process_user = 15,
                 .process_system = 26};
  const auto all = cpu_use(start, stop);
  EXPECT_EQ(all.wall, 2000);
  EXPECT_EQ(all.node_user, 30);  // processor 2 came up in between: its start is unknown
  EXPECT_EQ(all.node_softirq, 5);
  EXPECT_EQ(all.node_idle, 90);
  EXPECT_EQ(all.process_user, 10);
  EXPECT_EQ(all.process_system, 20);
  EXPECT_EQ(cpu_use(start, stop, {1}).node_user, 20);
}

TEST(CpuUse, NeverRunsBackwards) {
  const CpuSample start{.time = 0, .cpus = {{0, {.idle = 100}}}};
  const CpuSample stop{.time = 1, .cpus = {{0, {.idle = 90}}}};
  EXPECT_EQ(cpu_use(start, stop).node_idle, 0);
}

TEST(SampleCpu, CountsThisProcessAndNode) {
  const auto start = sample_cpu();
  const auto until = raw_time() + std::chrono::milliseconds{30};
  volatile std::uint64_t work = 0;
  while (raw_time() < until) work = work + 1;
  const auto use = cpu_use(start, sample_cpu());
  EXPECT_GE(use.wall, 30'000'000);
  EXPECT_GT(use.process_user + use.process_system, 1'000'000);
  EXPECT_GT(use.node_user + use.node_system + use.node_idle + use.node_nice, 0);
}

}  // namespace
}  // namespace longhaul::observe
