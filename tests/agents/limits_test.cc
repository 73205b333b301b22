// Limits on a workload process, and the messages when it reaches one.
#include "agents/limits.hh"

#include <signal.h>
#include <sys/resource.h>

#include "common/sanitized.hh"
#include "tests/agents/support.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

TEST(Limits, DefaultsLeaveTheNodeItsShare) {
  const auto small = default_limits(1000 * kMiB, 2);
  EXPECT_EQ(small.memory, 936 * kMiB);
  EXPECT_EQ(small.locked, small.memory);
  EXPECT_EQ(small.time, std::chrono::hours{1});
  EXPECT_EQ(small.cpu, std::chrono::hours{2});
  EXPECT_EQ(default_limits(64 * 1024 * kMiB, 1).memory, 60 * 1024 * kMiB);
  EXPECT_EQ(default_limits(32 * kMiB, 0).memory, 64 * kMiB) << "a figure that was read wrongly must not stop all runs";
}

TEST(Limits, AreReadWithTheirUnits) {
  EXPECT_EQ(**parse_limit(Kind::size, "4GiB"), 4096 * kMiB);
  EXPECT_EQ(**parse_limit(Kind::duration, "10min"), 600'000'000'000);
  EXPECT_FALSE(*parse_limit(Kind::duration, "none"));
  EXPECT_FALSE(*parse_limit(Kind::size, "0"));
  EXPECT_THAT(parse_limit(Kind::size, "much").error().message, AllOf(HasSubstr("expected a size"), HasSubstr("none")));
  EXPECT_FALSE(parse_limit(Kind::duration, "-1s"));
}

TEST(Limits, BecomeTheKernels) {
  const auto find = [](const std::vector<ChildLimit>& all, int resource) -> std::optional<ChildLimit> {
    for (const auto& one : all)
      if (one.resource == resource) return one;
    return {};
  };
  const auto none = child_limits({});
  EXPECT_FALSE(find(none, RLIMIT_DATA));
  EXPECT_FALSE(find(none, RLIMIT_CPU));
  EXPECT_EQ(find(none, RLIMIT_CORE)->hard, 0u);
  const auto some = child_limits({.memory = 5, .locked = 6, .cpu = 1200ms});
  EXPECT_EQ(find(some, RLIMIT_DATA)->hard, 5u);
  EXPECT_EQ(find(some, RLIMIT_MEMLOCK)->hard, 6u);
  EXPECT_EQ(find(some, RLIMIT_CPU)->soft, 2u);
  EXPECT_GT(find(some, RLIMIT_CPU)->hard, 2u) << "SIGXCPU comes first, which says why";
}

TEST(Limits, AreNamedWhereTheyAreMet) {
  const ProcessLimits limits{.memory = 64 * kMiB, .locked = 32 * kMiB, .cpu = 60s};
  EXPECT_EQ(limit_met(limits, "connection refused"), "");
  EXPECT_EQ(limit_met(limits, "killed", SIGKILL), "");
  EXPECT_EQ(limit_met(limits, "", SIGXCPU),
            "it used more than the agent's limit of 60 s of processor time (--limit-cpu)");
  EXPECT_THAT(limit_met(limits, "std::bad_alloc"), AllOf(HasSubstr("64MiB of memory (--limit-memory)"),
                                                         HasSubstr("32MiB of locked memory (--limit-locked")));
  EXPECT_THAT(limit_met({.locked = kMiB}, "ibv_reg_mr: Cannot allocate memory"),
              AllOf(HasSubstr("1MiB of locked"), Not(HasSubstr("--limit-memory"))));
  EXPECT_EQ(limit_met({}, "std::bad_alloc"), "") << "it was none of ours";
}

class Limited : public AgentTest {
 protected:
  struct End {
    std::string failure;
    std::string exit;
  };

  /// The end of a run that fails.
  End end_of(StartRequest request) {
    open_agent();
    End end;
    run([&]() -> Awaitable<void> {
      CO_VALUE(controller, co_await Controller::connect(node(), controller_));
      CO_OK(co_await controller.start(request));
      for (;;) {
        CO_VALUE(event, co_await controller.next_event(request.run_id, 50s));
        if (event.bench && event.bench->kind == BenchEventKind::failed) end.failure = *event.bench->message;
        if (!event.exit) continue;
        end.exit = *event.exit;
        co_return;
      }
    });
    return end;
  }
};

TEST_F(Limited, NothingIsGainedAndTheKernelKnowsTheLimits) {
  options_.limits = {.memory = 512 * kMiB, .locked = 65536, .cpu = 7s, .files = 99};
  const auto [words, exit] = end_of(script("l", "limits"));
  EXPECT_THAT(words, AllOf(HasSubstr("NoNewPrivs: 1"), HasSubstr("CapInh: 0000000000000000"),
                           HasSubstr("CapAmb: 0000000000000000"), HasSubstr("Max data size 536870912 536870912"),
                           HasSubstr("Max locked memory 65536 65536"), HasSubstr("Max cpu time 7 12"),
                           HasSubstr("Max open files 99 99"), HasSubstr("Max core file size 0 0")));
  EXPECT_THAT(words, ::testing::EndsWith(" 1000 ")) << "it goes first when memory runs out";
}

TEST_F(Limited, ALowerHardLimitOfTheAgentHolds) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  options_.limits.files = static_cast<std::int64_t>(before.rlim_max) + 1000;
  const auto [words, exit] = end_of(script("l", "limits"));
  EXPECT_THAT(words, HasSubstr(fmt::format("Max open files {0} {0}", before.rlim_max)));
}

TEST_F(Limited, ProcessorTime) {
  options_.limits.cpu = 1s;
  const auto [failure, exit] = end_of(script("s", "spin"));
  EXPECT_THAT(failure, HasSubstr("more than the agent's limit of 1 s of processor time (--limit-cpu)"));
  EXPECT_THAT(exit, HasSubstr("killed by signal 24"));
}

TEST_F(Limited, Time) {
  options_.limits.time = 300ms;
  const auto [failure, exit] = end_of(script("h", "hang"));
  EXPECT_THAT(failure, HasSubstr("took longer than the agent's limit of 300ms (--limit-time)"));
  EXPECT_THAT(exit, HasSubstr("killed by signal 15"));
}

TEST_F(Limited, TimeOfOneThatDoesNotListen) {
  options_.limits.time = 300ms;
  options_.stop_grace = 200ms;
  const auto [failure, exit] = end_of(script("h", "stubborn"));
  EXPECT_THAT(failure, HasSubstr("took longer than the agent's limit of 300ms (--limit-time)"));
  EXPECT_THAT(exit, HasSubstr("killed by signal 9"));
}

StartRequest simulation(std::int64_t requests, std::int64_t objects) {
  return {.run_id = "s",
          .role = Role::local,
          .workload = "simulation",
          .parameters = {{"requests", Value{requests}}, {"objects", Value{objects}}}};
}

TEST_F(Limited, TimeOfTheRealBench) {
  catalog_ = workloads::catalog();
  options_.bench = LONGHAUL_BINARY_DIR "/bin/longhaul-bench";
  options_.limits.time = 500ms;
  const auto [failure, exit] = end_of(simulation(100'000'000, 1000));
  EXPECT_EQ(failure, "took longer than the agent's limit of 500ms (--limit-time)") << "and not: interrupted";
  EXPECT_EQ(exit, "exit code 130") << "it ended in order";
}

TEST_F(Limited, Memory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's shadow needs more than there is";
  catalog_ = workloads::catalog();
  options_.bench = LONGHAUL_BINARY_DIR "/bin/longhaul-bench";
  options_.limits.memory = 64 * kMiB;
  const auto [failure, exit] = end_of(simulation(1000, 10'000'000));
  EXPECT_THAT(failure, HasSubstr("the agent limits a workload to 64MiB of memory (--limit-memory)"));
}

}  // namespace
}  // namespace longhaul::agents
