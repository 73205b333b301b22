#include <gmock/gmock.h>

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <iterator>
#include <thread>

#include "common/version.hh"
#include "tests/orchestrator/drive_fixture.hh"
#include "tests/some.hh"

namespace longhaul::orchestrator {
namespace {

using testing::Behaviour;
using testing::Drive;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Drive, RunsEveryCellAndLeavesTheRouterUnimpaired) {
  world_.lateness = 300'000;
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  EXPECT_FALSE(world_.impaired);
  EXPECT_TRUE(world_.running.empty());
  EXPECT_GT(journal_.manifest.finished, 0);
  EXPECT_EQ(journal_.manifest.measuring, 8 * 1'000'000);
  EXPECT_THAT(world_.echoes, ::testing::UnorderedElementsAre("10.20.0.1", "10.21.0.1"));
}

TEST_F(Drive, EachRunHasATokenOfItsOwnWhichBothItsEndsHave) {
  ASSERT_TRUE(session());
  std::map<std::string, std::set<std::string>> of_run;
  std::set<std::string> all;
  for (const auto& [run, token] : some(world_.tokens)) {
    of_run[run].insert(token);
    all.insert(token);
    EXPECT_EQ(token.size(), agents::kTokenDigits);
  }
  EXPECT_EQ(of_run.size(), 8U);
  for (const auto& [run, tokens] : of_run) EXPECT_EQ(tokens.size(), 1U) << run;
  for (const auto& [address, token] : some(world_.echo_tokens)) all.insert(token);
  EXPECT_EQ(all.size(), 8U + 1U) << "one for the probes of the session";
}

TEST_F(Drive, InASealedLabTokensFollowFromTheOrder) {
  options_.token_seed = 7;
  ASSERT_TRUE(session());
  const auto first = std::exchange(world_.tokens, {});
  journal_.runs.clear();
  ASSERT_TRUE(session());
  EXPECT_EQ(world_.tokens, first);
}

TEST_F(Drive, NodesAreComparedWithThisBuildAndNotWithThoseOfTheManifest) {
  version_ = "0.0.1 (commit 1a2b3c4d), then " + version_text();
  ASSERT_TRUE(session());
  EXPECT_TRUE(sink_.of<WarningEvent>().empty());
  EXPECT_EQ(journal_.manifest.version, version_);
}

TEST_F(Drive, ClientsLearnTheClocksOfServersOnOtherMachines) {
  world_.clocks = {{"client", {.offset = 100, .error = 7}}, {"server", {.offset = 250, .error = 5}}};
  ASSERT_TRUE(session());
  ASSERT_FALSE(world_.told.empty());
  for (const auto& request : world_.told) {
    ASSERT_TRUE(request.server_clock);
    EXPECT_EQ(request.server_clock->offset, 150);
    EXPECT_EQ(request.server_clock->error, 12);
  }
}

TEST_F(Drive, OneMachineHasOneClock) {
  ASSERT_TRUE(session());
  for (const auto& request : some(world_.told)) EXPECT_FALSE(request.server_clock);
}

TEST_F(Drive, RecordsSayWhatThePathWas) {
  world_.lateness = 300'000;
  ASSERT_TRUE(session());
  for (const auto& run : some(journal_.runs)) {
    ASSERT_TRUE(run.path);
    const auto impaired = run.parameters.contains("delay");
    EXPECT_EQ(run.path->forward.asked, impaired ? 5'000'000 : 0);
    EXPECT_EQ(run.path->forward.achieved, impaired ? 5'000'000 : 0);
    EXPECT_EQ(run.path->forward.programmed, impaired ? 4'700'000 : 0);
    EXPECT_EQ(run.path->before.size(), 2U);
    EXPECT_EQ(run.path->after.size(), 2U);
    EXPECT_GT(run.path->forward.samples, 0U);
    EXPECT_EQ(run.path->rtt, 500'000);
    EXPECT_TRUE(run.path->within_tolerance);
    EXPECT_EQ(run.facts.size(), 3U);
    EXPECT_EQ(run.nodes.size(), 2U);
    EXPECT_EQ(run.topology, "fake");
    EXPECT_LE(run.started, run.finished);
  }
}

TEST_F(Drive, RecordsSayWhichEngineDegenChoseAndItsSeed) {
  ASSERT_TRUE(session());
  for (const auto& run : some(journal_.runs)) {
    EXPECT_EQ(run.path->engine, "netem");
    EXPECT_FALSE(run.path->chosen);
  }
  auto text = testing::kDriven;
  campaign_ = *testing::read(text.replace(text.find("fixed: {"), 8, "fixed: {engine: auto, "));
  cells_ = *expand(campaign_);
  journal_.runs.clear();
  ASSERT_TRUE(session());
  for (const auto& run : some(journal_.runs)) {
    EXPECT_EQ(run.path->engine, "edt");
    EXPECT_EQ(run.path->chosen, "the first choice");
    EXPECT_EQ(run.path->seed, 42U);
  }
  EXPECT_EQ(sink_.of<BlockStarted>().back().engine, "edt");
}

TEST_F(Drive, AppliesAgainUntilTheDelayIsRight) {
  world_.lateness = 300'000;
  ASSERT_TRUE(session());
  std::multiset<int> tries;
  for (const auto& block : sink_.of<BlockStarted>()) tries.insert(block.tries);
  EXPECT_THAT(tries,
              ::testing::UnorderedElementsAre(1, 1, 1, 2));  // the first block with delay learns, the others know
}

TEST_F(Drive, RefusesWhatCannotBeMadeRightAndTriesABoundedNumberOfTimes) {
  world_.lateness = 300'000;
  world_.learns = false;
  const auto outcome = session();
  ASSERT_TRUE(outcome);
  int refused = 0;
  for (const auto& run : journal_.runs) {
    if (!run.parameters.contains("delay")) continue;
    ++refused;
    EXPECT_EQ(run.status, Status::refused);
    EXPECT_THAT(
        run.message,
        HasSubstr("before the run, client to server: asked for 5.000 ms, achieved 5.300 ms, 0.050 ms are tolerated"));
  }
  EXPECT_EQ(refused, 2 * Schedule::kRefusalsInARow);  // then the cells are given up
  EXPECT_EQ(good_runs().size(), 2U);
}

TEST_F(Drive, RepeatsARunDuringWhichTheDelayDrifted) {
  std::string victim;
  world_.behave = [&](const std::string& id) {
    if (victim.empty() && world_.impaired) victim = id;
    return Behaviour{.drift = id == victim ? 400'000 : 0};
  };
  ASSERT_TRUE(session());
  expect_complete();
  ASSERT_EQ(journal_.runs.size(), 9U);
  std::vector<RunRecord> refused;
  std::copy_if(journal_.runs.begin(), journal_.runs.end(), std::back_inserter(refused),
               [](const RunRecord& run) { return run.status == Status::refused; });
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].run_id, victim);
  EXPECT_THAT(refused[0].message, HasSubstr("client to server: asked for 5.000 ms, achieved 5.400 ms"));
  EXPECT_FALSE(refused[0].path->within_tolerance);
}

TEST_F(Drive, ARunWithoutItsImpairmentIsRefusedAndRepeated) {
  std::string victim;
  world_.behave = [&](const std::string& id) {
    if (victim.empty() && world_.impaired) victim = id;
    return Behaviour{.loses_wan = id == victim};
  };
  ASSERT_TRUE(session());
  expect_complete();
  ASSERT_EQ(journal_.runs.size(), 9U);
  int refused = 0;
  for (const auto& run : journal_.runs)
    if (run.status == Status::refused) {
      ++refused;
      EXPECT_EQ(run.run_id, victim);
      EXPECT_EQ(run.message, "the router lost its impairment during the run");
      EXPECT_FALSE(run.path->within_tolerance);
    }
  EXPECT_EQ(refused, 1);
}

TEST_F(Drive, RepeatsAFailedRunAndGoesOn) {
  const auto bad = cells_[2].id;
  world_.behave = [&](const std::string& id) {
    return Behaviour{.status = id.starts_with(bad) && id.ends_with("/0") ? Status::failed : Status::ok};
  };
  ASSERT_TRUE(session());
  expect_complete();
  EXPECT_EQ(journal_.runs.size(), 10U);
}

TEST_F(Drive, ACellThatAlwaysFailsIsGivenUpTheOthersAreNot) {
  const auto bad = cells_[2].id;
  world_.behave = [&](const std::string& id) {
    return Behaviour{.status = id.starts_with(bad) ? Status::failed : Status::ok};
  };
  ASSERT_TRUE(session());
  EXPECT_EQ(good_runs().size(), 3U);
  EXPECT_EQ(journal_.runs.size(), 6U + 3U);
  EXPECT_THAT(sink_.of<RunFinished>(), ::testing::Contains(::testing::Field(
                                           &RunFinished::message, "client: as told; given up after 3 attempts")));
}

TEST_F(Drive, UnsupportedIsFinal) {
  const auto bad = cells_[0].id;
  world_.behave = [&](const std::string& id) {
    return Behaviour{.status = id.starts_with(bad) ? Status::unsupported : Status::ok};
  };
  ASSERT_TRUE(session());
  EXPECT_EQ(journal_.runs.size(), 7U);
}

TEST_F(Drive, LimitedCounts) {
  world_.behave = [](const auto&) { return Behaviour{.status = Status::limited}; };
  ASSERT_TRUE(session());
  expect_complete();
  EXPECT_EQ(sink_.of<RunFinished>().back().done, 8);
  EXPECT_EQ(journal_.runs.front().status, Status::limited);
  EXPECT_EQ(journal_.runs.front().message, "window");
}

TEST_F(Drive, AnAgentThatDiesIsWaitedForAndTheRunRepeated) {
  bool killed = false;
  std::string victim;
  world_.behave = [&](const std::string& id) {
    const bool kill = (!killed && world_.started.size() == 3) || id == victim;
    if (kill && victim.empty()) victim = id;
    killed = killed || kill;
    return Behaviour{.kills_agent = kill};
  };
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  EXPECT_EQ(world_.dials["client"], 2);
  EXPECT_FALSE(world_.impaired);
  for (const auto& warning : sink_.of<WarningEvent>())
    EXPECT_THAT(warning.text, Not(HasSubstr("not as it was before"))) << "the same node came back";
}

// So many tries in a row end a campaign; a good run between them ends the row.
TEST_F(Drive, ARouterThatIsAskedInVainNowAndThenEndsNothing) {
  world_.refuses_to_clear = 6;
  std::string victim;
  world_.behave = [&](const std::string& id) {
    const bool kill = world_.started.size() == 2 && victim.empty();
    if (kill) {
      victim = id;
      world_.refuses_to_clear = 6;
    }
    return Behaviour{.kills_agent = kill};
  };
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  EXPECT_EQ(world_.fired["refuses_to_clear"], 12);
}

TEST_F(Drive, AnAgentThatStaysAwayEndsTheCampaignWhichCanBeResumed) {
  world_.behave = [&](const std::string&) {
    const bool kill = world_.started.size() == 4;
    if (kill) world_.unreachable.insert("client");
    return Behaviour{.kills_agent = kill};
  };
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("agent client: connection refused"));
  EXPECT_EQ(outcome.error().exit_code, ExitCode::failure);
  EXPECT_FALSE(world_.impaired);
  EXPECT_EQ(journal_.manifest.finished, 0);
  const auto finished = journal_.runs;
  world_.unreachable.clear();
  world_.behave = nullptr;
  ASSERT_TRUE(session());
  expect_complete();
}

TEST_F(Drive, SaysAtOnceWhatWaitingCannotMend) {
  world_.wrong["server"] = "agent server: the certificate is another testbed's";
  options_.connect_timeout = std::chrono::seconds{30};
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "agent server: the certificate is another testbed's");
  EXPECT_EQ(world_.dials["server"], 1);

  world_.wrong.clear();
  world_.unreachable.insert("router");
  world_.why_hopeless = "machine lab of the lab has died";
  const auto second = session();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "agent router: connection refused: machine lab of the lab has died");
}

TEST_F(Drive, ARunThatEndsWellThoughCtrlCCameMeanwhileIsKept) {
  // The path is surveyed when a run's processes are through.
  std::size_t kept = 0;
  world_.on_measure = [&] {
    if (world_.started.size() < 3) return;
    kept = journal_.runs.size();
    interrupt_();
  };
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().exit_code, ExitCode::interrupted);
  EXPECT_EQ(journal_.runs.size(), kept + 1);
  EXPECT_EQ(journal_.runs.back().status, Status::ok);
}

TEST_F(Drive, TheTimeOfEarlierSessionsIsAdded) {
  journal_.manifest.wall = 1'000'000'000'000;
  ASSERT_TRUE(session());
  EXPECT_GT(journal_.manifest.wall, 1'000'000'000'000);
}

// They are over in a millisecond here, and are planned to last a hundred.
TEST_F(Drive, TheFirstRunsDoNotTellHowLongTheRestTakes) {
  ASSERT_TRUE(session());
  const auto finished = sink_.of<RunFinished>();
  ASSERT_EQ(finished.size(), 8U);
  EXPECT_GT(finished.front().eta, std::chrono::milliseconds{700});
}

// One program of the router for all runs of a block: the impairment stays between them.
TEST_F(Drive, ABlocksImpairmentIsPutInPlaceOnce) {
  ASSERT_TRUE(session());
  EXPECT_EQ(sink_.of<BlockStarted>().size(), 4U);
  EXPECT_EQ(world_.applies, 4);
}

TEST_F(Drive, InterruptKeepsWhatIsFinishedClearsTheRouterAndResumesWithoutLossOrRepetition) {
  for (std::size_t after = 1; after <= 8; ++after) {
    journal_ = {};
    world_.started.clear();
    world_.on_start = [&](const auto&) {
      if (world_.started.size() == after) interrupt_();
    };
    const auto first = session();
    if (after < 8) {
      ASSERT_FALSE(first);
      EXPECT_EQ(first.error().exit_code, ExitCode::interrupted);
    }
    EXPECT_FALSE(world_.impaired);
    EXPECT_TRUE(world_.running.empty());
    const auto kept = journal_.runs.size();
    EXPECT_GE(kept, after - 1);
    world_.on_start = [](const auto&) {};
    ASSERT_TRUE(session());
    expect_complete();
    EXPECT_EQ(journal_.runs.size(), 8U) << "interrupted in run " << after;
  }
}

TEST_F(Drive, AHangingRunIsEndedByItsWatchdogAndRepeated) {
  bool once = true;
  std::string victim;
  world_.behave = [&](const std::string& id) {
    if (once && world_.started.size() == 1) {
      victim = id;
      once = false;
    }
    return Behaviour{.hangs = id == victim};
  };
  ASSERT_TRUE(session());
  expect_complete();
  EXPECT_TRUE(world_.running.empty());
  EXPECT_THAT(journal_.runs,
              ::testing::Contains(::testing::Field(&RunRecord::message, HasSubstr("client: no sign of life in time"))));
}

// One that is read only when its client is through could fill this program's memory meanwhile.
TEST_F(Drive, AServerThatTalksIsReadWhileItsClientMeasures) {
  world_.behave = [](const std::string&) { return Behaviour{.server_talks = 3}; };
  ASSERT_TRUE(session());
  expect_complete();
  EXPECT_EQ(journal_.runs.size(), 8U) << "none had to be repeated";
}

// The nodes let go of a driver that is silent for long. So its loop goes on while a record is written: the write here
// does not end before the loop was there again.
TEST_F(Drive, ASlowDiskHoldsUpTheRunsAndNotTheLoop) {
  boost::asio::thread_pool writer{1};
  options_.writer = writer.get_executor();
  std::atomic<int> waiting = 0, seen = 0;
  journal_.on_write = [&] {
    if (std::this_thread::get_id() == test_) return;  // before the first connection, and after the last
    ++waiting;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (seen < waiting && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    EXPECT_EQ(seen, waiting) << "the loop stood still";
  };
  beside_ = [&]() -> Awaitable<void> {
    while (!over_) {
      co_await pause(std::chrono::milliseconds{1});
      seen = waiting.load();
    }
  };
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  EXPECT_GE(seen, 8);
}

TEST_F(Drive, AFullDiskEndsTheCampaignAndLosesNothing) {
  journal_.capacity = 3;
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "results.db: no space left on device");
  EXPECT_FALSE(world_.impaired);
  journal_.capacity = 100;
  ASSERT_TRUE(session());
  expect_complete();
}

TEST_F(Drive, ARouterThatRefusesFailsItsCellsNotTheCampaign) {
  world_.refuses_to_apply = true;
  ASSERT_TRUE(session());
  EXPECT_EQ(good_runs().size(), 0U);
  for (const auto& run : some(journal_.runs)) {
    EXPECT_EQ(run.status, Status::failed);
    EXPECT_THAT(run.message, HasSubstr("qdisc that is not ours"));
  }
}

TEST_F(Drive, ARouterWhoseDegenIsJustStartingIsAskedAgain) {
  world_.refuses_to_clear = 2;
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(world_.refuses_to_clear, 0);
  expect_complete();
}

TEST_F(Drive, ARouterWhoseDegenNeverStartsEndsTheCampaign) {
  world_.refuses_to_clear = 1000;
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("agent router: degen: cannot connect to the socket"));
  EXPECT_TRUE(journal_.runs.empty());
}

TEST_F(Drive, AProviderThatIsNotThereIsRefusedBeforeAnythingStarts) {
  world_.testbed.nodes[0].attachments.pop_back();
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "node client has no siw device on path wan; it has: rxe on a0 (wan)");
  EXPECT_EQ(outcome.error().exit_code, ExitCode::usage);
  EXPECT_TRUE(world_.dials.empty());
}

TEST_F(Drive, ImpossibleCellsAreRecordedWithoutATry) {
  campaign_ = *testing::read(
      "name: n\nworkload: ping\nseries:\n  - {transport: rdma, provider: siw}\n  - {transport: rdma, provider: rxe}\n"
      "fixed: {op: write_imm}\nrepeat: {min: 1}\n");
  cells_ = *expand(campaign_);
  ASSERT_TRUE(session());
  ASSERT_EQ(journal_.runs.size(), 2U);
  EXPECT_EQ(journal_.runs[0].status, Status::unsupported);
  EXPECT_EQ(journal_.runs[0].message, "rdma over siw has no write with immediate");
  EXPECT_EQ(world_.started.size(), 1U);
  ASSERT_TRUE(session());
  EXPECT_EQ(journal_.runs.size(), 2U);
}

class DriveWithTwoClients : public Drive {
 protected:
  DriveWithTwoClients() {
    world_.add_client("client2", "10.12.0.1", "10.13.0.1");
    campaign_ = *testing::read(
        "name: n\nworkload: ping\nseries: [{transport: tcp, rival: siw}]\naxes: {delay: [0, 5ms]}\n"
        "fixed: {duration: 100ms, warmup: 0, client_nodes: 2}\nrepeat: {min: 2}\n");
    cells_ = *expand(campaign_);
  }
};

TEST_F(DriveWithTwoClients, BothAreStartedMeasuredAndRecorded) {
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  for (const auto& run : journal_.runs) {
    EXPECT_TRUE(run.nodes.contains("client") && run.nodes.contains("client2") && run.nodes.contains("server"));
    EXPECT_EQ(run.message, "");
  }
  EXPECT_TRUE(world_.running.empty());
  EXPECT_TRUE(world_.echoes.contains("10.21.0.1"));
}

TEST_F(DriveWithTwoClients, BothLearnTheServersClock) {
  world_.clocks = {{"client", {.offset = 100, .error = 7}},
                   {"client2", {.offset = 50, .error = 1}},
                   {"server", {.offset = 250, .error = 5}}};
  ASSERT_TRUE(session());
  std::multiset<std::int64_t> offsets;
  for (const auto& request : some(world_.told)) {
    ASSERT_TRUE(request.server_clock);
    offsets.insert(request.server_clock->offset);
  }
  EXPECT_EQ(offsets.count(150), offsets.size() / 2);
  EXPECT_EQ(offsets.count(200), offsets.size() / 2);
}

TEST_F(DriveWithTwoClients, ALostOneFailsTheRunOnly) {
  int count = 0;
  world_.on_start = [&](const std::string&) {
    if (++count == 2) world_.alive.erase("client2");
  };
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
  const auto failed = std::count_if(journal_.runs.begin(), journal_.runs.end(),
                                    [](const RunRecord& run) { return run.status == Status::failed; });
  EXPECT_EQ(failed, 1);
}

}  // namespace
}  // namespace longhaul::orchestrator
