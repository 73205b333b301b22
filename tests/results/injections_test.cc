#include "results/analyses/injections/injections.hh"

#include <gmock/gmock.h>

#include "tests/results/synthetic.hh"

namespace longhaul::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Injections : public testing::Test {
 protected:
  static RunRecord good(double value) {
    RunRecord run;
    run.workload = "latency";
    run.status = Status::ok;
    run.started = 1'000'000'000;
    run.finished = run.started + 200'000'000;
    auto& client = run.nodes["client"];
    client.role = Role::client;
    client.metrics["latency"] = {.value = value, .samples = 1, .distribution = {}};
    return run;
  }
  static RunRecord bad(const std::string& message) {
    RunRecord run = good(0);
    run.nodes.clear();
    run.status = Status::failed;
    run.message = message;
    return run;
  }
  InjectionOutcome judged(RunStory story, const Injection& injection = {"kill", "degen", "window"}) {
    auto outcome = judge(injection, "latency rdma", story, good(1000), vocabulary_);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(InjectionOutcome{});
  }
  Vocabulary vocabulary_ = synthetic::vocabulary();
};

TEST_F(Injections, ARunThatCountsIsNearTheUndisturbedOne) {
  const auto run = judged({.injected = "done", .attempts = {good(1010)}});
  EXPECT_EQ(run.end, InjectionEnd::counts);
  EXPECT_NEAR(run.off.value_or(0), 0.01, 1e-9);
  EXPECT_EQ(run.wrong, "");
}

TEST_F(Injections, AFigureThatCountsAndIsOffIsWrong) {
  EXPECT_THAT(judged({.injected = "done", .attempts = {good(1100)}}).wrong, HasSubstr("off by +10.0 %"));
  EXPECT_THAT(judged({.injected = "done", .attempts = {bad("lost"), good(900)}}).wrong, HasSubstr("off by -10.0 %"))
      << "also one that is measured after the fault";
}

TEST_F(Injections, AFailureSaysWhyAndTheTestbedMeasuresAgain) {
  const auto again = judged({.injected = "done", .attempts = {bad("the agent is gone"), good(1000)}});
  EXPECT_EQ(again.end, InjectionEnd::again);
  EXPECT_THAT(again.messages, ElementsAre("the agent is gone"));
  EXPECT_EQ(again.wrong, "");
  const auto resumed =
      judged({.injected = "done", .attempts = {bad("full"), bad("full"), good(1000)}, .resumed = std::size_t{2}});
  EXPECT_EQ(resumed.end, InjectionEnd::resumed);
  EXPECT_EQ(resumed.wrong, "");
  EXPECT_THAT(judged({.injected = "done", .attempts = {bad(""), good(1000)}}).wrong, HasSubstr("does not say why"));
  const auto ended = judged({.injected = "done", .attempts = {bad("full"), bad("full")}});
  EXPECT_EQ(ended.end, InjectionEnd::ended);
  EXPECT_THAT(ended.wrong, HasSubstr("does not measure any more"));
}

TEST_F(Injections, AMachineThatIsGoneSaysNothingAndThatIsRight) {
  const Injection reset{"reset", "machine", "window"};
  const auto gone = judged({.injected = "", .attempts = {bad("a copy died")}}, reset);
  EXPECT_EQ(gone.end, InjectionEnd::ended);
  EXPECT_EQ(gone.wrong, "");
}

TEST_F(Injections, WhatWasNotThereWasNotHit) {
  const auto absent = judged({.injected = "no process of bench@client runs at this moment", .attempts = {good(1000)}});
  EXPECT_EQ(absent.end, InjectionEnd::nothing_to_hit);
  EXPECT_THAT(absent.messages, ElementsAre(HasSubstr("no process")));
  EXPECT_EQ(judged({.injected = "", .attempts = {good(1000)}}).end, InjectionEnd::nothing_to_hit);
}

TEST_F(Injections, AClockThatStepsMustNotMakeARunLastForAnHour) {
  auto before = good(1000), longer = good(1000);
  before.finished = before.started - 1;
  longer.finished = longer.started + std::int64_t{3600} * 1'000'000'000;
  EXPECT_THAT(judged({.injected = "done", .attempts = {before}}).wrong, HasSubstr("times"));
  EXPECT_THAT(judged({.injected = "done", .attempts = {longer}}).wrong, HasSubstr("times"));
}

TEST_F(Injections, TheTableHasFaultsByMomentsInTheirOrder) {
  std::vector<InjectionOutcome> all{
      judged({.injected = "done", .attempts = {good(1000)}}, {"kill", "degen", "window"}),
      judged({.injected = "done", .attempts = {good(1100)}}, {"kill", "degen", "apply"}),
      judged({.injected = "", .attempts = {good(1000)}}, {"stop", "degen", "window"}),
  };
  const auto text = to_text(all, false);
  EXPECT_THAT(text, HasSubstr("            apply     window\n"
                              "kill degen  ! counts  counts\n"
                              "stop degen            -\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "2 faults, 2 counts, 0 again, 0 resumed, 0 ended; 1 had nothing to hit. What counts is at most 10.00 % off"));
  EXPECT_THAT(text, HasSubstr("latency rdma, kill degen at apply: a figure counts that is off by +10.0 %"));
  const auto page = to_text(all, true);
  EXPECT_THAT(page, HasSubstr("| fault | apply | window |\n| --- | --- | --- |\n| kill degen | ! counts | counts |\n"));
  EXPECT_THAT(to_json(all), HasSubstr(R"("fault":"kill","target":"degen","moment":"window","end":"counts")"));
  EXPECT_THAT(to_text({}, false), Not(HasSubstr("wrong")));
}

}  // namespace
}  // namespace longhaul::results
