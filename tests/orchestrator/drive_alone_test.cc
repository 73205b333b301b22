// Workloads that run by themselves on one node.
#include <gmock/gmock.h>

#include "tests/orchestrator/drive_fixture.hh"
#include "tests/some.hh"

namespace longhaul::orchestrator {
namespace {

using testing::Behaviour;
using testing::Drive;
using ::testing::HasSubstr;

class DriveAlone : public Drive {
 protected:
  void take(const std::string& text) {
    campaign_ = *testing::read(text);
    cells_ = *expand(campaign_);
  }
  void take_solo() {
    take("name: n\nworkload: solo\naxes: {policy: [lru, mrrc], capacity: [4KiB, 1MiB]}\nrepeat: {min: 2}\n");
  }
};

TEST_F(DriveAlone, NeedsNoPathAndTouchesNoRouter) {
  take_solo();
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  EXPECT_EQ(world_.applies, 0);
  EXPECT_EQ(world_.clears, 0);
  EXPECT_EQ(world_.probes, 0U);
  EXPECT_TRUE(world_.echoes.empty());
  EXPECT_TRUE(world_.running.empty());
  EXPECT_EQ(journal_.manifest.measuring, 8 * 1'000'000);
  for (const auto& run : journal_.runs) {
    EXPECT_FALSE(run.path);
    ASSERT_EQ(run.nodes.size(), 1U);
    EXPECT_EQ(run.nodes.at("client").role, Role::local);
    EXPECT_EQ(headline(run, campaign_.experiments.front().workload), 1000);
  }
  for (const auto& start : some(world_.local)) {
    EXPECT_EQ(start.role, Role::local);
    EXPECT_EQ(start.transport + start.device + start.bind, "");
  }
}

TEST_F(DriveAlone, IsToldWhatItMeasuresWith) {
  take("name: n\nworkload: card\nseries: [{transport: rdma, provider: siw}]\nfixed: {size: 1KiB}\nrepeat: {min: 1}\n");
  ASSERT_TRUE(session());
  ASSERT_EQ(world_.local.size(), 1U);
  const auto& start = world_.local.front();
  EXPECT_EQ(start.transport, "rdma");
  EXPECT_EQ(start.device, "siw_a1");
  EXPECT_EQ(start.bind, "10.11.0.1");
  EXPECT_EQ(start.parameters, (Parameters{{"size", 1024}}));
}

// Before its turn it would measure beside another run.
TEST_F(DriveAlone, IsNotStartedBeforeTheRunBeforeItHasEnded) {
  take_solo();
  world_.on_start = [&](const std::string&) { EXPECT_EQ(world_.running.size(), 1U); };
  ASSERT_TRUE(session());
  expect_complete();
}

TEST_F(DriveAlone, GoesTogetherWithCellsThatCrossTheWan) {
  take(
      "name: n\nexperiments:\n  - {workload: solo, axes: {policy: [lru, mrrc]}}\n"
      "  - {workload: ping, series: [{transport: tcp, rival: siw}], axes: {delay: [0, 5ms]}, fixed: {duration: "
      "100ms}}\n"
      "repeat: {min: 2}\n");
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  EXPECT_FALSE(world_.impaired);
  for (const auto& run : journal_.runs) EXPECT_EQ(run.path.has_value(), run.workload == "ping");
}

TEST_F(DriveAlone, FailuresAreRepeatedAndWhatHangsIsEnded) {
  take_solo();
  options_.window_grace = Nanoseconds{std::chrono::milliseconds{300}} - 3 * kUnknownWindow;
  bool failed = false;
  bool hung = false;
  std::string victim;
  world_.behave = [&](const std::string& id) {
    if (!failed) return failed = true, Behaviour{.status = Status::failed};
    if (!hung) return hung = true, victim = id, Behaviour{.hangs = true};
    return Behaviour{};
  };
  ASSERT_TRUE(session());
  expect_complete();
  EXPECT_TRUE(world_.running.empty());
  EXPECT_EQ(journal_.runs.size(), 10U);
  EXPECT_THAT(journal_.runs,
              ::testing::Contains(::testing::Field(&RunRecord::message, HasSubstr("client: no sign of life in time"))));
}

TEST_F(DriveAlone, UnsupportedIsFinal) {
  take_solo();
  world_.behave = [](const auto&) { return Behaviour{.status = Status::unsupported}; };
  ASSERT_TRUE(session());
  EXPECT_EQ(journal_.runs.size(), 4U);
}

TEST_F(DriveAlone, AnAgentThatDiesIsWaitedFor) {
  take_solo();
  bool killed = false;
  world_.behave = [&](const std::string&) {
    const bool kill = !killed && world_.started.size() == 2;
    killed = killed || kill;
    return Behaviour{.kills_agent = kill};
  };
  ASSERT_TRUE(session());
  expect_complete();
  EXPECT_EQ(world_.dials["client"], 2);
}

TEST_F(DriveAlone, PlansWithoutADurationTakeSomeTime) {
  take_solo();
  std::vector<PlannedRun> runs;
  for (std::size_t i = 0; i < cells_.size(); ++i) runs.push_back({.cell = i, .repetition = 0, .attempt = 0});
  EXPECT_GT(estimate(campaign_, cells_, runs, false), std::chrono::seconds{4});
  EXPECT_LT(estimate(campaign_, cells_, runs, false), std::chrono::seconds{8});
  WorkloadSpec solo{.name = "solo", .roles = {Role::local}};
  EXPECT_EQ(window_of(solo, {}), kUnknownWindow);
  solo.lasts = [](const Parameters&) { return std::chrono::seconds{40}; };
  EXPECT_EQ(window_of(solo, {}), std::chrono::seconds{40});
  EXPECT_EQ(further_patience(solo, {}), Nanoseconds{0});
  solo.parameters.push_back({.name = "timeout", .kind = Kind::duration, .help = "", .fallback = Value{10'000'000'000}});
  const auto patience = [&](std::int64_t timeout) {
    return further_patience(solo, {.workload = "", .parameters = {{"timeout", timeout}}});
  };
  EXPECT_EQ(patience(60'000'000'000), std::chrono::seconds{50}) << "who is patient expects a slow path";
  EXPECT_EQ(patience(1'000'000'000), Nanoseconds{0});
}

}  // namespace
}  // namespace longhaul::orchestrator
