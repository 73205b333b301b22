#include "orchestrator/run/schedule.hh"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/random.hh"
#include "tests/orchestrator/fixture.hh"

namespace longhaul::orchestrator {
namespace {

std::vector<CampaignCell> some_cells() {
  auto cells = testing::cells_of(
      "name: n\nworkload: ping\nseries:\n  - {transport: rdma, provider: rxe}\n  - {transport: tcp, rival: rxe}\n"
      "axes: {delay: [0, 1ms, 5ms], size: [1B, 64B, 16KiB]}\n");
  return *cells;
}

Precision never_precise() {
  return [](const auto&) { return std::nullopt; };
}

struct Execution {
  std::vector<PlannedRun> runs;
  std::vector<std::string> groups;  ///< of the blocks, in order
};

// Runs everything with this outcome; stops after `limit` runs.
template <typename Outcome>
Execution execute(Schedule& schedule, const std::vector<CampaignCell>& cells, Outcome outcome,
                  std::size_t limit = 100'000) {
  Execution execution;
  while (auto block = schedule.next_block()) {
    execution.groups.push_back(fmt::format("{} {}", block->repetition, block->group));
    for (std::size_t i = 0; i < block->runs.size(); ++i) {
      if (execution.runs.size() >= limit) return execution;
      const auto run = block->runs[i];
      EXPECT_EQ(cells[run.cell].group, block->group);
      EXPECT_EQ(run.repetition, block->repetition);
      execution.runs.push_back(run);
      if (auto again = schedule.finished(run, outcome(run), 1.0)) block->runs.push_back(*again);
    }
  }
  return execution;
}

const auto kOk = [](const PlannedRun&) { return Status::ok; };

TEST(Schedule, GivesEveryCellItsRunsInBlocksOfEqualImpairment) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 4, .max = 4, .precision = {}}, 7, never_precise()};
  EXPECT_EQ(schedule.remaining(), 72);
  const auto execution = execute(schedule, cells, kOk);
  std::map<std::size_t, std::set<int>> repetitions;
  for (const auto& run : execution.runs) EXPECT_TRUE(repetitions[run.cell].insert(run.repetition).second);
  ASSERT_EQ(repetitions.size(), cells.size());
  for (const auto& [cell, seen] : repetitions) EXPECT_EQ(seen.size(), 4U);
  EXPECT_EQ(execution.groups.size(), 12U);  // 3 delays x 4 repetitions: no impairment is made twice in a repetition
  EXPECT_EQ(schedule.remaining(), 0);
}

TEST(Schedule, SameSeedSameOrderOtherSeedAnother) {
  const auto cells = some_cells();
  const auto order = [&](std::uint64_t seed) {
    Schedule schedule{cells, {.min = 3, .max = 3, .precision = {}}, seed, never_precise()};
    return execute(schedule, cells, kOk).runs;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(Schedule, RepetitionsHaveDifferentOrders) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 6, .max = 6, .precision = {}}, 3, never_precise()};
  std::map<int, std::vector<std::size_t>> orders;
  for (const auto& run : execute(schedule, cells, kOk).runs) orders[run.repetition].push_back(run.cell);
  std::set<std::vector<std::size_t>> distinct;
  for (const auto& [repetition, order] : orders) distinct.insert(order);
  EXPECT_EQ(distinct.size(), 6U);
}

// The order of the file's lines does not matter, because cells are sorted by identity before they are shuffled.
TEST(Schedule, OrderDoesNotDependOnTheFilesOrder) {
  const auto cells = some_cells();
  auto reversed = cells;
  std::reverse(reversed.begin(), reversed.end());
  const auto ids = [](const std::vector<CampaignCell>& list) {
    Schedule schedule{list, {.min = 2, .max = 2, .precision = {}}, 5, never_precise()};
    std::vector<std::string> order;
    for (const auto& run : execute(schedule, list, kOk).runs) order.push_back(list[run.cell].id);
    return order;
  };
  EXPECT_EQ(ids(cells), ids(reversed));
}

TEST(Schedule, ResumeAtAnyPointContinuesTheSameOrderAndRepeatsNothing) {
  const auto cells = some_cells();
  const RepeatRule rule{.min = 3, .max = 3, .precision = {}};
  Schedule whole{cells, rule, 11, never_precise()};
  const auto all = execute(whole, cells, kOk).runs;
  for (std::size_t killed = 0; killed <= all.size(); killed += 5) {
    Schedule first{cells, rule, 11, never_precise()};
    auto runs = execute(first, cells, kOk, killed).runs;
    Schedule second{cells, rule, 11, never_precise()};
    for (const auto& run : runs) second.resume(cells[run.cell].id, run.repetition, run.attempt, Status::ok, 1.0);
    EXPECT_EQ(second.remaining(), static_cast<std::int64_t>(all.size() - killed));
    const auto rest = execute(second, cells, kOk).runs;
    runs.insert(runs.end(), rest.begin(), rest.end());
    EXPECT_EQ(runs, all) << "killed after " << killed;
  }
}

TEST(Schedule, RepeatsRefusedAndFailedRunsInTheirBlockWithNewAttempts) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 2, .max = 2, .precision = {}}, 1, never_precise()};
  const auto execution = execute(schedule, cells, [](const PlannedRun& run) {
    return run.attempt < 2 && run.cell == 4 ? (run.attempt == 0 ? Status::refused : Status::failed) : Status::ok;
  });
  EXPECT_EQ(execution.runs.size(), cells.size() * 2 + 4);
  EXPECT_EQ(execution.groups.size(), 6U);
  EXPECT_FALSE(schedule.given_up(4));
  EXPECT_EQ(schedule.runs_done(4), 2);
}

TEST(Schedule, GivesACellUpAfterItsAttemptsAndGoesOn) {
  const auto cells = some_cells();
  for (const auto& [status, attempts] :
       {std::pair{Status::failed, Schedule::kAttempts}, {Status::refused, Schedule::kRefusalsInARow}}) {
    Schedule schedule{cells, {.min = 6, .max = 6, .precision = {}}, 1, never_precise()};
    const auto execution =
        execute(schedule, cells, [&](const PlannedRun& run) { return run.cell == 4 ? status : Status::ok; });
    EXPECT_EQ(execution.runs.size(), (cells.size() - 1) * 6 + attempts);
    EXPECT_TRUE(schedule.given_up(4));
    EXPECT_EQ(schedule.remaining(), 0);
  }
}

TEST(Schedule, PutsWhatIsRefusedOffUntilTheOthersAreThrough) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 2, .max = 2, .precision = {}}, 1, never_precise()};
  // A spell of bad weather that lasts for a block.
  const auto execution = execute(schedule, cells, [](const PlannedRun& run) {
    return run.cell == 4 && run.repetition == 0 && run.attempt < Schedule::kRefusals ? Status::refused : Status::ok;
  });
  EXPECT_EQ(execution.runs.size(), cells.size() * 2 + Schedule::kRefusals);
  EXPECT_EQ(execution.runs.back(), (PlannedRun{.cell = 4, .repetition = 0, .attempt = Schedule::kRefusals}));
  EXPECT_FALSE(schedule.given_up(4));
  EXPECT_EQ(schedule.runs_done(4), 2);
}

TEST(Schedule, ResumeTriesAGivenUpCellAgainWithAttemptsThatAreNew) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 1, .max = 1, .precision = {}}, 1, never_precise()};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i != 4)
      schedule.resume(cells[i].id, 0, 0, Status::ok, 1.0);
    else
      for (int attempt = 0; attempt < 3; ++attempt) schedule.resume(cells[i].id, 0, attempt, Status::failed, {});
  }
  const auto runs = execute(schedule, cells, kOk).runs;
  EXPECT_THAT(runs, ::testing::ElementsAre(PlannedRun{.cell = 4, .repetition = 0, .attempt = 3}));
}

TEST(Schedule, UnsupportedIsFinal) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 6, .max = 6, .precision = {}}, 1, never_precise()};
  const auto execution =
      execute(schedule, cells, [](const PlannedRun& run) { return run.cell == 0 ? Status::unsupported : Status::ok; });
  EXPECT_EQ(execution.runs.size(), (cells.size() - 1) * 6 + 1);
  Schedule resumed{cells, {.min = 6, .max = 6, .precision = {}}, 1, never_precise()};
  resumed.resume(cells[0].id, 0, 0, Status::unsupported, {});
  EXPECT_EQ(resumed.remaining(), static_cast<std::int64_t>((cells.size() - 1) * 6));
}

TEST(Schedule, RepeatsUntilPreciseOrTheCap) {
  const auto cells = some_cells();
  // Precise at 8 values, so two looks in a row say at 9; cell 2 never is.
  const auto precision = [](const std::vector<double>& values) -> std::optional<double> {
    if (values.front() > 1) return 0.5;
    return values.size() >= 8 ? 0.01 : 0.2;
  };
  Schedule schedule{cells, {.min = 6, .max = 10, .precision = 0.05}, 1, precision};
  while (auto block = schedule.next_block())
    for (const auto& run : block->runs) schedule.finished(run, Status::ok, run.cell == 2 ? 2.0 : 1.0);
  for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(schedule.runs_done(i), i == 2 ? 10 : 9);
  EXPECT_EQ(schedule.remaining(), 0) << "the cap is an end, too";
}

// Takers that get on at different speeds: each makes so many blocks when it is its turn.
TEST(Schedule, SeveralTakersShareRepetitionsAndMakeNoRunTwice) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 6, .max = 6, .precision = {}}, 7, never_precise(), Schedule::kAttempts, 3};
  std::map<std::pair<std::size_t, int>, int> made;
  std::map<int, std::set<std::size_t>> takers;
  std::vector<bool> idle(3, false);
  for (int turn = 0; std::find(idle.begin(), idle.end(), false) != idle.end(); ++turn)
    for (std::size_t taker = 0; taker < 3; ++taker)
      for (std::size_t i = 0; i <= taker; ++i) {
        const auto block = schedule.next_block(taker);
        idle[taker] = !block;
        if (!block) break;
        takers[block->repetition].insert(taker);
        for (const auto& run : block->runs) {
          ++made[{run.cell, run.repetition}];
          schedule.finished(run, Status::ok, 1.0);
        }
      }
  EXPECT_EQ(made.size(), cells.size() * 6);
  for (const auto& [run, times] : made) EXPECT_EQ(times, 1);
  for (const auto& [repetition, who] : takers) EXPECT_EQ(who.size(), 1U) << "a repetition is made by one";
  EXPECT_EQ(schedule.remaining(), 0);
  EXPECT_FALSE(schedule.taken());
}

TEST(Schedule, WhatATakerLeavesUndoneIsForTheOthers) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 2, .max = 2, .precision = {}}, 7, never_precise(), Schedule::kAttempts, 2};
  const auto all = [&](std::size_t taker) {
    int runs = 0;
    while (const auto block = schedule.next_block(taker))
      for (const auto& run : block->runs) {
        schedule.finished(run, Status::ok, 1.0);
        ++runs;
      }
    return runs;
  };
  const auto begun = schedule.next_block(0);
  ASSERT_TRUE(begun);
  EXPECT_EQ(all(1), static_cast<int>(cells.size()));
  EXPECT_TRUE(schedule.taken()) << "the other may yet leave";
  EXPECT_FALSE(schedule.next_block(1)) << "asked again";
  schedule.leave(0);
  EXPECT_EQ(all(1), static_cast<int>(cells.size()));
  EXPECT_EQ(schedule.remaining(), 0);
  EXPECT_FALSE(schedule.taken());
}

TEST(Schedule, WhatWasPutOffWhileAnotherLookedIsMadeInTheEnd) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 1, .max = 1, .precision = {}}, 7, never_precise(), Schedule::kAttempts, 2};
  std::set<std::size_t> made;
  bool spoilt = true;  // the very first run, until it is put off
  for (auto block = schedule.next_block(0); block; block = schedule.next_block(0)) {
    for (std::size_t i = 0; i < block->runs.size(); ++i) {
      const auto run = block->runs[i];
      const auto status = spoilt && run.cell == block->runs.front().cell ? Status::refused : Status::ok;
      if (status == Status::ok) made.insert(run.cell);
      if (const auto again = schedule.finished(run, status, 1.0))
        block->runs.push_back(*again);
      else if (status == Status::refused)
        spoilt = false;
      EXPECT_FALSE(schedule.next_block(1)) << "all of it is in another's hand";
    }
  }
  EXPECT_EQ(made.size(), cells.size());
  EXPECT_EQ(schedule.remaining(), 0);
}

// A cell that was precise while others went on is not made again.
TEST(Schedule, TakersStopWhenTheRunsOfAllAreEnough) {
  const auto cells = some_cells();
  const auto precise = [](const std::vector<double>&) { return 0.01; };
  Schedule schedule{cells, {.min = 3, .max = 30, .precision = 0.05}, 7, precise, Schedule::kAttempts, 4};
  int runs = 0;
  std::vector<bool> idle(4, false);
  while (std::find(idle.begin(), idle.end(), false) != idle.end())
    for (std::size_t taker = 0; taker < idle.size(); ++taker) {
      const auto block = schedule.next_block(taker);
      idle[taker] = !block;
      if (!block) continue;
      for (const auto& run : block->runs) schedule.finished(run, Status::ok, 1.0);
      runs += static_cast<int>(block->runs.size());
    }
  EXPECT_EQ(runs, static_cast<int>(cells.size()) * 3);
}

// A testbed whose router is broken spoils no cell of the others.
TEST(Schedule, WhatOneTakerGivesUpTheOthersMake) {
  const auto cells = some_cells();
  for (const auto bad : {Status::failed, Status::refused}) {
    Schedule schedule{cells, {.min = 6, .max = 6, .precision = {}}, 7, never_precise(), Schedule::kAttempts, 3};
    const auto turn = [&](std::size_t taker, auto status) {
      auto block = schedule.next_block(taker);
      if (!block) return false;
      for (std::size_t i = 0; i < block->runs.size(); ++i) {
        const auto run = block->runs[i];
        if (const auto again = schedule.finished(run, status, 1.0, taker)) block->runs.push_back(*again);
      }
      return true;
    };
    int idle = 0;
    for (int turns = 0; idle < 3; ++turns) {
      ASSERT_LT(turns, 10'000) << "it ends";
      idle = 0;
      for (std::size_t taker = 0; taker < 3; ++taker)
        if (!turn(taker, taker == 1 ? bad : Status::ok)) ++idle;
    }
    EXPECT_EQ(schedule.remaining(), 0);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      EXPECT_EQ(schedule.runs_done(cell), 6);
      EXPECT_FALSE(schedule.given_up(cell));
    }
    EXPECT_TRUE(schedule.given_up_by(0, 1));
  }
}

TEST(Schedule, ACellIsGivenUpWhenAllTakersThatAreLeftHave) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 1, .max = 1, .precision = {}}, 7, never_precise(), Schedule::kAttempts, 3};
  schedule.leave(2);
  for (const std::size_t taker : {0, 1}) {
    EXPECT_FALSE(schedule.given_up(0));
    while (auto block = schedule.next_block(taker))
      for (std::size_t i = 0; i < block->runs.size(); ++i)
        if (const auto again = schedule.finished(block->runs[i], Status::failed, {}, taker))
          block->runs.push_back(*again);
  }
  EXPECT_TRUE(schedule.given_up(0));
  EXPECT_EQ(schedule.remaining(), 0);
  EXPECT_FALSE(schedule.next_block(0));
}

TEST(Schedule, AGoodRunEndsARowOfRefusedOnes) {
  const auto cells = some_cells();
  Schedule schedule{cells, {.min = 2, .max = 2, .precision = {}}, 1, never_precise()};
  // Nearly given up, then a good one, and the same again: no row is too long.
  int tried = 0;
  const auto execution = execute(schedule, cells, [&](const PlannedRun& run) {
    return run.cell == 4 && ++tried % Schedule::kRefusalsInARow != 0 ? Status::refused : Status::ok;
  });
  EXPECT_FALSE(schedule.given_up(4));
  EXPECT_EQ(schedule.runs_done(4), 2);
  EXPECT_EQ(tried, 2 * Schedule::kRefusalsInARow);
}

TEST(Random, IsTheSameForever) {
  Random random{42};
  EXPECT_EQ(random.next(), 13679457532755275413U);  // of the reference implementation
  std::vector<int> items{0, 1, 2, 3, 4, 5, 6, 7};
  Random other{1};
  shuffle(items, other);
  auto sorted = items;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_THAT(sorted, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Random, BelowIsUniform) {
  Random random{9};
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (const auto count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(Schedule, WhatIsComputedIsPreciseOnceItIsTheSameAgain) {
  const auto runs_of = [](const std::string& workload, int min) {
    const auto cells = *testing::cells_of("name: n\n" + workload);
    Schedule schedule{cells, {.min = min, .max = 10, .precision = 0.05}, 1, never_precise()};
    return execute(schedule, cells, kOk).runs.size();
  };
  const std::string between = "workload: ping\nseries: [{transport: tcp, rival: rxe}]\n";
  EXPECT_EQ(runs_of("workload: solo\n", 1), 2U);
  EXPECT_EQ(runs_of("workload: solo\n", 3), 3U);
  EXPECT_EQ(runs_of(between, 3), 10U);  // what is measured may be equal by chance
}

}  // namespace
}  // namespace longhaul::orchestrator
