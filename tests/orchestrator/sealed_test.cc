#include "orchestrator/run/sealed.hh"

#include <gmock/gmock.h>

#include <span>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/orchestrator/copies.hh"
#include "tests/orchestrator/fake.hh"
#include "tests/orchestrator/fixture.hh"
#include "tests/some.hh"

namespace longhaul::orchestrator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kSealedCampaign =
    "name: n\nworkload: ping\nseries:\n  - {transport: rdma, provider: rxe}\n  - {transport: tcp, rival: siw}\n"
    "axes: {delay: [0, 5ms]}\nfixed: {duration: 100ms, warmup: 0}\nrepeat: {min: 2}\n";  // 4 cells, 8 runs

// Half the range over the median, less with every value; of two values or more.
std::optional<double> precision(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return (sorted.back() - sorted.front()) / 2 / sorted[sorted.size() / 2] / static_cast<double>(sorted.size());
}

class Sealed : public ::testing::Test {
 protected:
  Sealed() : campaign_(*testing::read(kSealedCampaign)), cells_(*expand(campaign_)) {
    set_clock(cells_, kVirtualClock);
    options_.labs = 2;
  }

  // One session; what the journal holds is resumed.
  Result<void> session() {
    Manifest manifest;
    manifest.seed = 7;
    manifest.campaign_file = "c.yaml";
    manifest.campaign_text = kSealedCampaign;
    manifest.testbed.topology = "compact";
    manifest.testbed.nodes = {{.name = "client", .role = Role::client}};
    manifest.virtual_clock = journal_.manifest.virtual_clock.value_or(testing::testbed_clock());
    manifest.wall = journal_.manifest.wall;
    NodeFacts facts;
    facts.hostname = "client";
    SealedDriver driver{campaign_,        cells_,           manifest, precision, {{"client", facts}},
                        testing::clock(), copies_.runner(), journal_, sink_,     options_};
    std::vector<EarlierRun> earlier;
    for (const auto& run : journal_.runs)
      earlier.push_back({run.cell_id, run.repetition, run.attempt, run.status,
                         headline(run, campaign_.experiments.front().workload),
                         run.virtual_clock ? run.virtual_clock->digest : std::string{}});
    driver.resume(earlier);
    return driver.run(interrupted_);
  }

  // The whole campaign by other options; what it left.
  std::map<std::string, std::string> whole(SealedOptions options) {
    options_ = options;
    journal_ = {};
    const auto outcome = session();
    EXPECT_TRUE(outcome) << outcome.error().message;
    return documents();
  }

  std::map<std::string, std::string> documents() const {
    std::map<std::string, std::string> all;
    for (const auto& run : journal_.runs) EXPECT_TRUE(all.emplace(run.run_id, to_json(run)).second) << run.run_id;
    return all;
  }

  const RepeatCheck& check() const { return journal_.manifest.virtual_clock->check.value(); }

  Campaign campaign_;
  std::vector<CampaignCell> cells_;
  testing::Copies copies_;
  testing::MemoryJournal journal_;
  testing::MemorySink sink_;
  SealedOptions options_;
  std::function<bool()> interrupted_ = [] { return false; };
};

TEST_F(Sealed, MakesEveryRunOnceAndKeepsWhatItSaid) {
  const auto outcome = session();
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(journal_.runs.size(), 8U);
  std::map<std::string, std::set<int>> repetitions;
  for (const auto& run : journal_.runs) {
    EXPECT_EQ(run.status, Status::ok) << run.message;
    repetitions[run.cell_id].insert(run.repetition);
    EXPECT_EQ(run.topology, "compact");
    EXPECT_THAT(run.facts, ElementsAre(std::pair<const std::string, std::string>{"client", "digest of client"}));
    const auto variation = vary(7, run.repetition, run.attempt);
    ASSERT_TRUE(run.virtual_clock);
    EXPECT_EQ(run.virtual_clock->seed, variation.seed);
    EXPECT_EQ(run.virtual_clock->image, "image");
    EXPECT_EQ(run.virtual_clock->qemu, "10.0-q");
    EXPECT_EQ(run.virtual_clock->digest, samples_digest(run));
    EXPECT_EQ(run.started, 1'767'225'600'000'000'000 + variation.phase) << "nothing of this machine's time";
  }
  EXPECT_EQ(repetitions.size(), 4U);
  for (const auto& [cell, which] : repetitions) EXPECT_EQ(which, (std::set<int>{0, 1})) << cell;
  EXPECT_GT(journal_.manifest.finished, 0);
  EXPECT_EQ(journal_.manifest.measuring, 8 * 1'000'000);
  EXPECT_EQ(sink_.of<CampaignStarted>().at(0).runs, 8);
  // Windows of 64 ms and five round trips, at most 100 ms; 350 ms and six round trips around them.
  EXPECT_EQ(sink_.of<CampaignStarted>().at(0).estimate,
            std::chrono::milliseconds{4 * (64 + 350) + 4 * (100 + 350 + 60)});
  EXPECT_EQ(cut_windows(campaign_, cells_), 2U) << "those without delay ask for more than they get";
  EXPECT_EQ(sink_.of<RunFinished>().size(), 8U);
  EXPECT_EQ(sink_.of<RunFinished>().back().remaining, 0);
}

TEST_F(Sealed, OrdersTellAllThatACopyNeeds) {
  ASSERT_TRUE(session());
  std::map<int, std::set<std::uint64_t>> seeds;
  for (const auto& order : some(copies_.orders)) {
    EXPECT_EQ(order.campaign_text, kSealedCampaign);
    EXPECT_EQ(order.clock, "virtual");
    EXPECT_EQ(order.limit, 3 * 100'000'000 + 60'000'000'000);
    seeds[order.repetition].insert(order.variation.seed);
    EXPECT_EQ(order.variation.padding, vary(7, order.repetition, order.attempt).padding);
  }
  EXPECT_EQ(seeds.at(0).size(), 1U) << "cells of a repetition share what varies: they are paired";
  EXPECT_EQ(seeds.at(1).size(), 1U);
  EXPECT_NE(seeds.at(0), seeds.at(1));
}

TEST_F(Sealed, WhatIsFoundDoesNotDependOnHowManyLabsThereAre) {
  const auto one = whole({.labs = 1});
  EXPECT_EQ(one.size(), 8U);
  EXPECT_EQ(whole({.labs = 3}), one);
  EXPECT_EQ(whole({.labs = 20}), one);
}

TEST_F(Sealed, NorDoesHowOftenACellIsRepeatedUntilItIsPrecise) {
  campaign_.repeat = {.min = 2, .max = 12, .precision = 0.03};
  const auto one = whole({.labs = 1});
  EXPECT_EQ(whole({.labs = 3}), one);
  std::map<std::string, int> counts;
  for (const auto& run : journal_.runs) ++counts[run.cell_id];
  std::set<int> different;
  for (const auto& [cell, count] : counts) different.insert(count);
  EXPECT_GT(different.size(), 1U) << "the rule has something to do";
  EXPECT_LT(one.size(), 48U);
}

TEST_F(Sealed, SharesAreTheWholeAndHaveNothingInCommon) {
  campaign_.repeat = {.min = 2, .max = 8, .precision = 0.03};
  const auto everything = whole({.labs = 2});
  for (const std::size_t shares : {2U, 3U, 7U}) {
    std::map<std::string, std::string> together;
    for (std::size_t share = 0; share < shares; ++share) {
      const auto part = whole({.labs = 2, .share = share, .shares = shares});
      for (const auto& [id, document] : part) EXPECT_TRUE(together.emplace(id, document).second) << id << " twice";
      EXPECT_GT(journal_.manifest.finished, 0) << "a share without cells is done, too";
    }
    EXPECT_EQ(together, everything) << shares;
  }
}

TEST_F(Sealed, ResumeMakesOnlyWhatIsMissingAndTheSame) {
  const auto everything = whole({.labs = 1});
  auto kept = journal_.runs;
  kept.resize(3);
  journal_.runs = kept;
  copies_.orders.clear();
  ASSERT_TRUE(session());
  EXPECT_EQ(documents(), everything);
  std::set<std::string> made;
  ASSERT_EQ(copies_.orders.size(), 5U + 3U) << "three of all are made once more";
  for (const auto& order : std::span{copies_.orders}.first(5))
    made.insert(fmt::format("{}/{}/0", order.cell_id, order.repetition));
  EXPECT_EQ(made.size(), 5U);
  for (const auto& run : kept) EXPECT_FALSE(made.contains(run.run_id)) << run.run_id;
  EXPECT_EQ(sink_.of<CampaignStarted>().back().finished, 3);

  copies_.orders.clear();
  ASSERT_TRUE(session());
  EXPECT_TRUE(copies_.orders.empty()) << "nothing is left to be made";
}

TEST_F(Sealed, AnInterruptKeepsWhatWasTaken) {
  const auto everything = whole({.labs = 1});
  for (const std::size_t labs : {1U, 3U}) {
    journal_ = {};
    options_ = {.labs = labs};
    interrupted_ = [this] { return journal_.runs.size() >= 3; };
    const auto outcome = session();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().exit_code, ExitCode::interrupted);
    EXPECT_EQ(journal_.runs.size(), 3U);
    EXPECT_EQ(journal_.manifest.finished, 0);
    EXPECT_EQ(journal_.manifest.measuring, 3 * 1'000'000) << "the manifest was saved";
    interrupted_ = [] { return false; };
    ASSERT_TRUE(session());
    EXPECT_EQ(documents(), everything);
    EXPECT_GT(journal_.manifest.finished, 0);
  }
}

TEST_F(Sealed, AFullDiskEndsIt) {
  journal_.capacity = 5;
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("no space left"));
  EXPECT_EQ(journal_.runs.size(), 5U);
  EXPECT_EQ(journal_.manifest.finished, 0);
}

TEST_F(Sealed, ACopyThatFailsOnceIsRepeatedAsAnotherAttempt) {
  const auto bad = cells_[2].id;
  copies_.answer = [&](const SealedOrder& order, int) -> Result<std::string> {
    if (order.cell_id == bad && order.attempt == 0) return say_trouble("the agent of client is lost");
    return say_record(testing::measured(order));
  };
  ASSERT_TRUE(session());
  EXPECT_EQ(journal_.runs.size(), 10U);
  int failed = 0, good = 0;
  for (const auto& run : journal_.runs) {
    if (run.cell_id != bad) continue;
    (run.status == Status::ok ? good : failed) += 1;
    EXPECT_EQ(run.attempt, run.status == Status::ok ? 1 : 0);
    if (run.status == Status::failed) {
      EXPECT_EQ(run.message, "the agent of client is lost");
      EXPECT_TRUE(run.nodes.empty());
    }
  }
  EXPECT_EQ(failed, 2);
  EXPECT_EQ(good, 2);
}

TEST_F(Sealed, ACellWhoseCopiesFailIsGivenUpTheOthersAreNot) {
  const auto bad = cells_[1].id;
  copies_.answer = [&](const SealedOrder& order, int) -> Result<std::string> {
    if (order.cell_id == bad) return fail("a copy of the sealed lab hangs");
    return say_record(testing::measured(order));
  };
  for (const std::size_t labs : {1U, 3U}) {
    sink_.events.clear();
    whole({.labs = labs});
    EXPECT_EQ(journal_.runs.size(), 6U + Schedule::kAttempts);
    for (const auto& run : journal_.runs)
      if (run.cell_id == bad) {
        EXPECT_EQ(run.status, Status::failed);
        EXPECT_EQ(run.message, "a copy of the sealed lab hangs");
      }
    std::vector<std::string> told;
    for (const auto& event : sink_.of<RunFinished>())
      if (event.status == Status::failed) told.push_back(event.message);
    EXPECT_THAT(told, ElementsAre("a copy of the sealed lab hangs; it is repeated",
                                  "a copy of the sealed lab hangs; it is repeated",
                                  "a copy of the sealed lab hangs; given up after 3 attempts"));
  }
}

TEST_F(Sealed, WhatIsNoRecordOfTheRunIsAFailureThatSaysSo) {
  std::string answer;
  copies_.answer = [&](const SealedOrder&, int) -> Result<std::string> { return answer; };
  cells_.resize(1);
  const auto message = [&](std::string said) {
    answer = std::move(said);
    whole({.labs = 1});
    EXPECT_EQ(journal_.runs.size(), 3U);
    EXPECT_EQ(journal_.runs.at(0).status, Status::failed);
    return journal_.runs.at(0).message;
  };
  EXPECT_EQ(message(""), "the copy of the sealed lab said nothing");
  EXPECT_EQ(message("a kernel's line\n"), "the copy of the sealed lab said nothing");
  EXPECT_THAT(message("record {\"schema\":1,\n"), HasSubstr("the sealed lab's record: "));
  EXPECT_EQ(message(say_record(testing::measured({.cell_id = "another"}))),
            "the copy of the sealed lab made cell another, not " + cells_[0].id);
}

TEST_F(Sealed, TheLastRecordCountsUnderTheNameOfTheRun) {
  cells_.resize(1);
  copies_.answer = [](const SealedOrder& order, int) -> Result<std::string> {
    auto refused = testing::measured(order);
    refused.status = Status::refused;
    auto good = testing::measured(order);
    good.attempt = 1;  // the second try within the copy
    good.run_id = "x";
    return say_record(refused) + say_record(good);
  };
  ASSERT_TRUE(session());
  ASSERT_EQ(journal_.runs.size(), 2U);
  EXPECT_EQ(journal_.runs[0].status, Status::ok);
  EXPECT_EQ(journal_.runs[0].run_id, cells_[0].id + "/0/0");
  EXPECT_EQ(journal_.runs[0].attempt, 0);
}

TEST_F(Sealed, AnInjectionIsInTheOrderAndAllThatItsCopySaysIsTaken) {
  copies_.answer = [](const SealedOrder& order, int) {
    auto lost = testing::measured(order), good = lost;
    lost.status = Status::failed;
    lost.message = "lost";
    good.run_id = "its own name";
    return Result<std::string>{say_injected({}) + say_record(lost) + say_resumed() + say_record(good)};
  };
  Manifest manifest;
  manifest.campaign_text = kSealedCampaign;
  const Injection injection{.fault = "kill", .target = "degen", .moment = "window"};
  const SealedDriver driver{campaign_,        cells_,           manifest, precision, {},
                            testing::clock(), copies_.runner(), journal_, sink_,     options_};
  std::vector<RunStory> stories;
  const auto made = driver.make(
      {PlannedRun{.cell = 0}, PlannedRun{.cell = 0, .injection = injection}},
      [&](const PlannedRun&, RunStory story) -> Result<std::optional<PlannedRun>> {
        stories.push_back(std::move(story));
        return std::nullopt;
      },
      [] { return false; });
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(copies_.orders.size(), 2U);
  const auto& plain = copies_.orders[copies_.orders[0].injection ? 1 : 0];
  const auto& with = copies_.orders[copies_.orders[0].injection ? 0 : 1];
  EXPECT_FALSE(plain.injection);
  EXPECT_EQ(with.injection, injection);
  EXPECT_GT(with.limit, plain.limit) << "there is time to recover";
  for (const auto& story : stories) {
    ASSERT_EQ(story.attempts.size(), 2U);
    EXPECT_EQ(story.attempts[0].message, "lost");
    EXPECT_EQ(story.resumed, std::size_t{1});
    EXPECT_EQ(story.injected, kInjectionDone);
    EXPECT_EQ(story.attempts[0].run_id, story.attempts[1].run_id);
    EXPECT_FALSE(story.attempts[1].virtual_clock->digest.empty());
  }
  EXPECT_TRUE(journal_.runs.empty()) << "nothing of it is kept";
}

TEST_F(Sealed, WhatIsKnownAsImpossibleIsRecordedWithoutACopy) {
  cells_[3].unsupported = "siw has no such thing";
  ASSERT_TRUE(session());
  EXPECT_EQ(journal_.runs.size(), 7U);
  for (const auto& order : some(copies_.orders)) EXPECT_NE(order.cell_id, cells_[3].id);
  EXPECT_EQ(journal_.runs.at(0).status, Status::unsupported);
}

TEST_F(Sealed, SomeRunsAreMadeTwiceAndMustBeEqual) {
  ASSERT_TRUE(session());
  EXPECT_EQ(copies_.orders.size(), 11U);
  EXPECT_EQ(check().runs, 3);
  EXPECT_EQ(check().equal, 3);
  EXPECT_TRUE(check().different.empty());
  EXPECT_EQ(journal_.runs.size(), 8U) << "they are not kept again";
  EXPECT_TRUE(sink_.of<WarningEvent>().empty());
}

TEST_F(Sealed, ARunThatIsNotTheSameTheSecondTimeIsNamed) {
  copies_.answer = [](const SealedOrder& order, int time) -> Result<std::string> {
    auto record = testing::measured(order);
    if (time == 1 && order.repetition == 0) ++record.nodes["client"].metrics["latency"].raw[1];
    return say_record(record);
  };
  ASSERT_TRUE(session());
  EXPECT_EQ(check().runs, 3);
  EXPECT_EQ(check().equal + static_cast<int>(check().different.size()), 3);
  ASSERT_FALSE(check().different.empty());
  const auto warnings = sink_.of<WarningEvent>();
  ASSERT_EQ(warnings.size(), check().different.size());
  for (const auto& id : check().different) EXPECT_TRUE(id.ends_with("/0/0")) << id;
  EXPECT_THAT(warnings[0].text, HasSubstr(check().different[0] + " was made twice and is not the same: "));
}

TEST_F(Sealed, ACopyThatDiesTheSecondTimeSaysWhy) {
  copies_.answer = [](const SealedOrder& order, int time) -> Result<std::string> {
    if (time == 1) return fail("a copy of the sealed lab died");
    return say_record(testing::measured(order));
  };
  ASSERT_TRUE(session());
  EXPECT_EQ(check().equal, 0);
  EXPECT_EQ(check().different.size(), 3U);
  EXPECT_THAT(sink_.of<WarningEvent>().at(0).text, HasSubstr("(a copy of the sealed lab died)"));
}

TEST_F(Sealed, OneRunIsCheckedOnce) {
  cells_.resize(1);
  campaign_.repeat = {.min = 1, .max = 1, .precision = {}};
  ASSERT_TRUE(session());
  EXPECT_EQ(check().runs, 1);
}

TEST_F(Sealed, AnInterruptOfTheCheckIsNoEnd) {
  interrupted_ = [this] { return journal_.runs.size() >= 8; };
  // The last run is taken and the round over before the interrupt is seen: it falls into the check.
  const auto outcome = session();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().exit_code, ExitCode::interrupted);
  EXPECT_EQ(journal_.runs.size(), 8U);
  EXPECT_EQ(journal_.manifest.finished, 0);

  interrupted_ = [] { return false; };
  ASSERT_TRUE(session());
  EXPECT_EQ(journal_.runs.size(), 8U);
  EXPECT_EQ(check().runs, 3) << "what was not checked then is checked now";
  EXPECT_EQ(check().equal, 3);
  EXPECT_GT(journal_.manifest.finished, 0);
}

TEST_F(Sealed, WhatAnEarlierSessionFoundIsAddedTo) {
  ASSERT_TRUE(session());
  journal_.runs.resize(4);
  ASSERT_TRUE(session());
  EXPECT_EQ(check().runs, 6);
  EXPECT_EQ(check().equal, 6);
}

TEST_F(Sealed, ABrokenEnvironmentIsThrownAtWhoAsked) {
  copies_.answer = [](const SealedOrder&, int) -> Result<std::string> {
    throw std::system_error(EMFILE, std::generic_category(), "making a file in memory");
  };
  EXPECT_THROW(static_cast<void>(session()), std::system_error);
  EXPECT_TRUE(journal_.runs.empty()) << "no cell is blamed";
}

}  // namespace
}  // namespace longhaul::orchestrator
