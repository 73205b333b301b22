#include "orchestrator/run/side_by_side.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>

namespace longhaul::orchestrator {
namespace {

using namespace std::chrono_literals;
using Taken = Result<std::optional<PlannedRun>>;
using Said = Result<std::string>;

std::vector<PlannedRun> runs(std::size_t count) {
  std::vector<PlannedRun> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({.cell = i, .repetition = 0, .attempt = 0});
  return all;
}

Said name(const PlannedRun& run) {
  return std::to_string(run.cell) + "/" + std::to_string(run.attempt);
}

bool never() {
  return false;
}

// A run that only ends when it is told to.
Said wait_for_the_end(const std::function<bool()>& stopped) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!stopped() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
  return stopped() ? Said{"stopped"} : Said{"never stopped"};
}

class SideBySideWith : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, SideBySideWith, ::testing::Values(0, 1, 4, 100));

TEST_P(SideBySideWith, EveryRunIsMadeAndTakenOnceByTheCaller) {
  std::multiset<std::string> taken;
  std::atomic<int> made = 0;
  const auto caller = std::this_thread::get_id();
  const auto outcome = run_side_by_side(runs(40), {.workers = GetParam(),
                                                   .make =
                                                       [&](const PlannedRun& run, const auto&) {
                                                         ++made;
                                                         EXPECT_NE(std::this_thread::get_id(), caller);
                                                         return name(run);
                                                       },
                                                   .take = [&](const PlannedRun& run, const Said& said) -> Taken {
                                                     EXPECT_EQ(std::this_thread::get_id(), caller);
                                                     EXPECT_EQ(*said, *name(run));
                                                     taken.insert(*said);
                                                     return std::nullopt;
                                                   },
                                                   .interrupted = never});
  EXPECT_TRUE(outcome);
  EXPECT_EQ(made, 40);
  EXPECT_EQ(taken.size(), 40U);
  EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), 40U);
}

TEST_P(SideBySideWith, WhatTakeAsksForIsMadeToo) {
  std::set<std::string> taken;
  const auto outcome =
      run_side_by_side(runs(3), {.workers = GetParam(),
                                 .make = [](const PlannedRun& run, const auto&) { return name(run); },
                                 .take = [&](const PlannedRun& run, const Said& said) -> Taken {
                                   taken.insert(*said);
                                   if (run.attempt == 4) return std::nullopt;
                                   return PlannedRun{.cell = run.cell, .repetition = 0, .attempt = run.attempt + 1};
                                 },
                                 .interrupted = never});
  EXPECT_TRUE(outcome);
  EXPECT_EQ(taken.size(), 15U);
  EXPECT_TRUE(taken.contains("2/4"));
}

TEST_P(SideBySideWith, AnErrorOfTakeEndsItAndWhatIsUnderWay) {
  std::atomic<int> made = 0, stopped_runs = 0;
  int taken = 0;
  const auto began = std::chrono::steady_clock::now();
  const auto outcome = run_side_by_side(runs(40), {.workers = GetParam(),
                                                   .make = [&](const PlannedRun& run, const auto& stopped) -> Said {
                                                     ++made;
                                                     if (run.cell == 0) return name(run);
                                                     const auto said = wait_for_the_end(stopped);
                                                     if (said == "stopped") ++stopped_runs;
                                                     return said;
                                                   },
                                                   .take = [&](const PlannedRun&, const Said&) -> Taken {
                                                     ++taken;
                                                     return fail("no space left on device");
                                                   },
                                                   .interrupted = never});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "no space left on device");
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(stopped_runs, made - 1);
  EXPECT_LT(made, 41);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 15s);
}

TEST_P(SideBySideWith, AnInterruptEndsItSoonAndTheRunsAreTold) {
  std::atomic<int> made = 0, stopped_runs = 0;
  int taken = 0;
  const auto began = std::chrono::steady_clock::now();
  const auto outcome = run_side_by_side(runs(200), {.workers = GetParam(),
                                                    .make = [&](const PlannedRun&, const auto& stopped) -> Said {
                                                      ++made;
                                                      const auto said = wait_for_the_end(stopped);
                                                      if (said == "stopped") ++stopped_runs;
                                                      return said;
                                                    },
                                                    .take = [&](const PlannedRun&, const Said&) -> Taken {
                                                      ++taken;
                                                      return std::nullopt;
                                                    },
                                                    .interrupted = [&] { return made > 0; }});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().exit_code, ExitCode::interrupted);
  EXPECT_EQ(taken, 0);
  EXPECT_EQ(stopped_runs, made) << "those under way ended by being told";
  EXPECT_LE(static_cast<std::size_t>(made), std::max<std::size_t>(GetParam(), 1));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 15s);
}

TEST_P(SideBySideWith, WhatARunThrowsIsThrownAtTheCaller) {
  std::atomic<int> waiting = 0, stopped_runs = 0;
  const auto all = [&] {
    return run_side_by_side(runs(40), {.workers = GetParam(),
                                       .make = [&](const PlannedRun& run, const auto& stopped) -> Said {
                                         if (run.cell == 0) throw std::runtime_error("no more descriptors");
                                         ++waiting;
                                         const auto said = wait_for_the_end(stopped);
                                         if (said == "stopped") ++stopped_runs;
                                         return said;
                                       },
                                       .take = [](const PlannedRun&, const Said&) -> Taken { return std::nullopt; },
                                       .interrupted = never});
  };
  try {
    const auto outcome = all();
    FAIL() << "it ended without a word";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no more descriptors");
  }
  EXPECT_EQ(stopped_runs, waiting);
}

TEST_P(SideBySideWith, WhatTakeThrowsEndsTheRunsUnderWay) {
  std::atomic<int> waiting = 0, stopped_runs = 0;
  EXPECT_THROW(static_cast<void>(run_side_by_side(
                   runs(40), {.workers = GetParam(),
                              .make = [&](const PlannedRun& run, const auto& stopped) -> Said {
                                if (run.cell == 0) return name(run);
                                ++waiting;
                                const auto said = wait_for_the_end(stopped);
                                if (said == "stopped") ++stopped_runs;
                                return said;
                              },
                              .take = [](const PlannedRun&, const Said&) -> Taken { throw std::runtime_error("x"); },
                              .interrupted = never})),
               std::runtime_error);
  EXPECT_EQ(stopped_runs, waiting);
}

TEST(SideBySide, RunsAreReallyBesideEachOther) {
  std::atomic<int> here = 0;
  const auto outcome = run_side_by_side(runs(3), {.workers = 3,
                                                  .make = [&](const PlannedRun&, const auto&) -> Said {
                                                    ++here;
                                                    const auto deadline = std::chrono::steady_clock::now() + 20s;
                                                    while (here < 3 && std::chrono::steady_clock::now() < deadline)
                                                      std::this_thread::sleep_for(1ms);
                                                    return here == 3 ? Said{"met"} : Said{"alone"};
                                                  },
                                                  .take = [](const PlannedRun&, const Said& said) -> Taken {
                                                    EXPECT_EQ(*said, "met");
                                                    return std::nullopt;
                                                  },
                                                  .interrupted = never});
  EXPECT_TRUE(outcome);
}

TEST(SideBySide, NothingToDoIsDone) {
  EXPECT_TRUE(run_side_by_side({}, {.workers = 4, .make = {}, .take = {}, .interrupted = never}));
}

}  // namespace
}  // namespace longhaul::orchestrator
