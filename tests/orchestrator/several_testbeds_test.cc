// Testbeds that share a campaign: who makes what, and what happens when one is lost.
#include <gmock/gmock.h>

#include "orchestrator/run/testbeds.hh"
#include "tests/orchestrator/drive_fixture.hh"

namespace longhaul::orchestrator {
namespace {

using ::testing::AllOf;
using testing::Behaviour;
using ::testing::HasSubstr;

class SeveralTestbeds : public testing::Drive {
 protected:
  SeveralTestbeds() { other_.rename("west-"); }
  std::vector<TestbedAccess> testbeds() override {
    return {{.name = "east.yml", .testbed = world_.testbed, .dialer = world_},
            {.name = "west.yml", .testbed = other_.testbed, .dialer = other_}};
  }

  // By repetition, the nodes that its runs were made on.
  std::map<int, std::set<std::string>> nodes_of_repetitions() const {
    std::map<int, std::set<std::string>> nodes;
    for (const auto& run : journal_.runs)
      for (const auto& [node, digest] : run.facts) nodes[run.repetition].insert(node);
    return nodes;
  }

  testing::FakeTestbed other_;
};

const std::set<std::string> kEast{"client", "server", "router"};
const std::set<std::string> kWest{"west-client", "west-server", "west-router"};

TEST_F(SeveralTestbeds, EachMakesWholeRepetitions) {
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  EXPECT_THAT(nodes_of_repetitions(), ::testing::UnorderedElementsAre(std::pair{0, kEast}, std::pair{1, kWest}));
  EXPECT_EQ(world_.started.size(), 4U);
  EXPECT_EQ(other_.started.size(), 4U);
  for (const auto* world : {&world_, &other_}) {
    EXPECT_GT(world->applies, 0);
    EXPECT_FALSE(world->impaired);
    EXPECT_TRUE(world->running.empty());
  }
  for (const auto& run : journal_.runs)
    for (const auto& [node, record] : run.nodes) EXPECT_TRUE(run.facts.contains(node)) << run.run_id;
}

TEST_F(SeveralTestbeds, TakeHalfTheTime) {
  ASSERT_TRUE(session());
  std::vector<PlannedRun> runs;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell)
    for (int repetition = 0; repetition < 2; ++repetition) runs.push_back({.cell = cell, .repetition = repetition});
  EXPECT_EQ(sink_.of<CampaignStarted>().front().estimate, estimate(campaign_, cells_, runs, false) / 2);
}

TEST_F(SeveralTestbeds, EventsSayOnWhich) {
  ASSERT_TRUE(session());
  std::map<std::string, int> runs;
  for (const auto& event : sink_.of<RunStarted>()) ++runs[event.testbed];
  EXPECT_THAT(runs, ::testing::UnorderedElementsAre(std::pair{"east.yml", 4}, std::pair{"west.yml", 4}));
}

// A router that refuses everything costs its testbed its cells, and the others nothing.
TEST_F(SeveralTestbeds, WhatOneCannotImpairTheOthersMake) {
  other_.refuses_to_apply = true;
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  for (const auto& run : journal_.runs) EXPECT_EQ(run.facts.contains("client"), run.status == Status::ok) << run.run_id;
  const auto finished = sink_.of<RunFinished>();
  EXPECT_TRUE(std::any_of(finished.begin(), finished.end(), [](const auto& run) {
    return run.message.find("given up on this testbed after 3 attempts, others try it") != std::string::npos;
  }));
}

TEST_F(SeveralTestbeds, WhatALostOneHasNotMadeTheOthersMake) {
  other_.behave = [&](const std::string&) {
    const bool kill = other_.started.size() == 2;
    if (kill) other_.unreachable.insert("west-client");
    return Behaviour{.kills_agent = kill};
  };
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  EXPECT_FALSE(other_.impaired);
  EXPECT_EQ(nodes_of_repetitions()[0], kEast);
  const auto warnings = sink_.of<WarningEvent>();
  EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const auto& warning) {
    return warning.text.starts_with("testbed west.yml is lost, the others make what it has not: agent west-client");
  }));
}

TEST_F(SeveralTestbeds, WhereAllAreLostTheCampaignEndsAndIsResumedByThoseThatAreBack) {
  for (auto* world : {&world_, &other_})
    world->behave = [world](const std::string&) {
      const bool kill = world->started.size() == 2;
      if (kill) world->unreachable.insert(world->testbed.nodes.front().name);
      return Behaviour{.kills_agent = kill};
    };
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("connection refused"));
  for (auto* world : {&world_, &other_}) {
    world->unreachable.clear();
    world->behave = nullptr;
  }
  ASSERT_TRUE(session());
  expect_complete();
}

TEST_F(SeveralTestbeds, OneThatIsNotThereAtTheStartIsAnError) {
  other_.unreachable.insert("west-server");
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "agent west-server: connection refused");
  EXPECT_TRUE(journal_.runs.empty());
}

TEST_F(SeveralTestbeds, AFullDiskEndsAllOfThem) {
  journal_.capacity = 3;
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "results.db: no space left on device");
  for (const auto* world : {&world_, &other_}) {
    EXPECT_FALSE(world->impaired);
    EXPECT_TRUE(world->running.empty());
  }
  journal_.capacity = 100;
  ASSERT_TRUE(session());
  expect_complete();
}

TEST_F(SeveralTestbeds, AnInterruptEndsAllOfThemAndNothingIsLostOrMadeTwice) {
  for (std::size_t after = 1; after <= 4; ++after) {
    journal_ = {};
    other_.started.clear();
    other_.on_start = [&](const auto&) {
      if (other_.started.size() == after) interrupt_();
    };
    const auto first = session();
    EXPECT_TRUE(first || first.error().exit_code == ExitCode::interrupted);
    for (const auto* world : {&world_, &other_}) {
      EXPECT_FALSE(world->impaired);
      EXPECT_TRUE(world->running.empty());
    }
    other_.on_start = [](const auto&) {};
    ASSERT_TRUE(session());
    expect_complete();
    EXPECT_EQ(journal_.runs.size(), 8U) << "interrupted in run " << after;
  }
}

TEST_F(SeveralTestbeds, OtherMachinesAreRefused) {
  world_.kernel = "6.1.0";
  other_.kernel = "6.12.0";
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message,
              AllOf(HasSubstr("east.yml and west.yml are not alike"),
                    HasSubstr("the kernel of client is 6.1.0, of west-client 6.12.0"), HasSubstr("longhaul compare")));
  EXPECT_EQ(outcome.error().exit_code, ExitCode::usage);
  EXPECT_TRUE(journal_.runs.empty());
}

TEST(TestbedsApart, NoNodeNameAndNoAgentBelongsToTwo) {
  const auto east = testing::FakeTestbed{}.testbed;
  auto west = east;
  EXPECT_THAT(check_apart({"a", "b"}, {east, west}).error().message, HasSubstr("a and b both have a node client"));
  for (auto& node : west.nodes) node.name += "2";
  EXPECT_THAT(check_apart({"a", "b"}, {east, west}).error().message,
              HasSubstr("node client of a and node client2 of b are one agent, h port 1"));
  for (auto& node : west.nodes) node.host = "elsewhere";
  EXPECT_TRUE(check_apart({"a", "b"}, {east, west}));
  west.topology = "full";
  EXPECT_THAT(check_apart({"a", "b"}, {east, west}).error().message,
              HasSubstr("one's topology is fake, the other's full"));
}

}  // namespace
}  // namespace longhaul::orchestrator
