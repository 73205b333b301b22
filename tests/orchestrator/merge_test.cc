#include "orchestrator/cli/merge.hh"

#include <gmock/gmock.h>

#include <fstream>

#include "orchestrator/cli/journal.hh"
#include "results/analyses/compare/records.hh"
#include "tests/orchestrator/copies.hh"
#include "tests/orchestrator/fake.hh"
#include "tests/orchestrator/fixture.hh"
#include "tests/results/temporary.hh"
#include "tests/some.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kMergedCampaign =
    "name: n\nworkload: ping\nseries:\n  - {transport: rdma, provider: rxe}\n  - {transport: tcp, rival: siw}\n"
    "axes: {delay: [0, 5ms]}\nfixed: {duration: 100ms, warmup: 0}\nrepeat: {min: 2}\n";  // 4 cells, 8 runs

class Merge : public ::testing::Test {
 protected:
  Merge() : campaign_(*testing::read(kMergedCampaign)), cells_(*expand(campaign_)) {
    set_clock(cells_, kVirtualClock);
    cells_[3].unsupported = "siw has no such thing";
    manifest_.name = "n";
    manifest_.campaign_text = kMergedCampaign;
    manifest_.seed = 7;
    manifest_.started = 1000;
    manifest_.testbed.topology = "compact";
    manifest_.virtual_clock = testing::testbed_clock();
    for (const auto& cell : cells_)
      manifest_.cells.push_back({.cell_id = cell.id, .workload = "ping", .parameters = cell.cell.parameters});
  }

  std::string at(const std::string& name) const { return (scratch_.path() / name).string(); }

  // A share as `longhaul shard` leaves it.
  std::string make(const std::string& name, std::size_t share, std::size_t shares) {
    auto store = results::Store::open(at(name), results::OpenMode::create);
    EXPECT_TRUE(store);
    StoreJournal journal{*store};
    testing::MemorySink sink;
    NodeFacts facts;
    facts.hostname = "client";
    SealedDriver driver{campaign_,
                        cells_,
                        manifest_,
                        [](const auto&) { return std::nullopt; },
                        {{"client", facts}},
                        testing::clock(),
                        copies_.runner(),
                        journal,
                        sink,
                        {.labs = 2, .share = share, .shares = shares}};
    const auto outcome = driver.run([] { return false; });
    EXPECT_TRUE(outcome) << outcome.error().message;
    return at(name);
  }

  void change_manifest(const std::string& directory, const std::function<void(Manifest&)>& change) {
    auto store = *results::Store::open(directory, results::OpenMode::resume);
    auto manifest = *store.manifest();
    change(manifest);
    ASSERT_TRUE(store.save_manifest(manifest));
  }

  static std::map<std::string, RunRecord> runs_of(const std::string& directory) {
    const auto store = *results::Store::open(directory, results::OpenMode::read);
    std::map<std::string, RunRecord> all;
    const auto runs = *store.runs();
    for (const auto& run : some(runs)) EXPECT_TRUE(all.emplace(run.run_id, run).second) << run.run_id << " twice";
    return all;
  }
  static Manifest manifest_of(const std::string& directory) {
    return *results::Store::open(directory, results::OpenMode::read)->manifest();
  }

  std::string refusal(const std::vector<std::string>& parts) {
    const auto merged = merge(parts, {.out = at("out")});
    EXPECT_FALSE(merged);
    EXPECT_FALSE(fs::exists(at("out"))) << "nothing is left";
    return merged ? "" : merged.error().message;
  }

  results::TemporaryDirectory scratch_;
  Campaign campaign_;
  std::vector<CampaignCell> cells_;
  Manifest manifest_;
  testing::Copies copies_;
};

TEST_F(Merge, SharesGiveTheWholeCampaign) {
  const auto whole = make("whole", 0, 1);
  const auto first = make("first", 0, 2), second = make("second", 1, 2);
  const auto merged = merge({first, second}, {.out = at("out")});
  ASSERT_TRUE(merged) << merged.error().message;
  const auto expected = runs_of(whole), found = runs_of(at("out"));
  EXPECT_EQ(expected.size(), 7U) << "three cells twice, one that is impossible";
  ASSERT_EQ(found.size(), expected.size());
  int compared = 0;
  for (const auto& [id, run] : expected) {
    ASSERT_TRUE(found.contains(id)) << id;
    EXPECT_EQ(found.at(id).facts, run.facts);
    if (run.nodes.empty()) continue;  // it has only times of this machine
    ++compared;
    EXPECT_EQ(results::first_difference(run, found.at(id)), "") << id;
  }
  EXPECT_EQ(compared, 6);
  const auto manifest = manifest_of(at("out"));
  const auto parts = std::pair{manifest_of(first), manifest_of(second)};
  EXPECT_EQ(manifest.finished, std::max(parts.first.finished, parts.second.finished));
  EXPECT_EQ(manifest.measuring, 6 * 1'000'000);
  EXPECT_EQ(manifest.wall, parts.first.wall + parts.second.wall);
  EXPECT_EQ(manifest.started, 1000);
  EXPECT_EQ(manifest.virtual_clock->check->runs,
            parts.first.virtual_clock->check->runs + parts.second.virtual_clock->check->runs);
  EXPECT_EQ(manifest.virtual_clock->check->equal, manifest.virtual_clock->check->runs);
  EXPECT_EQ(results::Store::open(at("out"), results::OpenMode::read)->facts()->size(), 1U);
}

TEST_F(Merge, OfWhatWasMergedIsTheSame) {
  const auto whole = make("whole", 0, 1);
  ASSERT_TRUE(merge({whole}, {.out = at("once")}));
  ASSERT_TRUE(merge({at("once")}, {.out = at("twice")}));
  const auto expected = runs_of(whole), found = runs_of(at("twice"));
  for (const auto& [id, run] : some(expected)) EXPECT_EQ(results::first_difference(run, found.at(id)), "") << id;
  EXPECT_TRUE(merge({whole, at("twice")}, {.out = at("both")})) << "stored more often, but the same";
  EXPECT_EQ(runs_of(at("both")).size(), expected.size());
}

// As a job array's shares are joined while they are made.
TEST_F(Merge, PortionsGiveTheSameAsWhole) {
  const auto first = make("first", 0, 2), second = make("second", 1, 2);
  ASSERT_TRUE(merge({first, second}, {.out = at("out")}));
  Joining joining;
  std::map<std::string, RunRecord> found;
  const auto known = [&](const std::string& run) -> Result<RunRecord> { return found.at(run); };
  for (const auto& directory : {first, second}) {
    const auto store = *results::Store::open(directory, results::OpenMode::read);
    const auto count = *store.count();
    for (std::size_t taken = 0; taken <= count; ++taken) {
      auto portion = *read_portion(store, taken);
      EXPECT_EQ(portion.runs.size(), count - taken);
      // One at a time, and nothing that is new at last.
      if (portion.runs.size() > 1) portion.runs.resize(1);
      if (taken < count) portion.manifest.finished = 0;
      const auto fresh = joining.add(directory, std::move(portion), known);
      ASSERT_TRUE(fresh) << fresh.error().message;
      for (const auto& run : *fresh) EXPECT_TRUE(found.emplace(run.run_id, run).second) << run.run_id;
      const bool last = directory == second && taken == count;
      EXPECT_EQ(joining.manifest().finished != 0, last) << directory << " " << taken;
    }
  }
  EXPECT_EQ(found.size(), runs_of(at("out")).size());
  EXPECT_EQ(to_json(joining.manifest()), to_json(manifest_of(at("out"))));
}

// What an earlier session of the same array has joined comes again with its shares.
TEST_F(Merge, WhatAnEarlierSessionJoinedIsComparedAndNotAdded) {
  const auto whole = make("whole", 0, 1);
  const auto portion = *read_portion(*results::Store::open(whole, results::OpenMode::read));
  auto there = runs_of(whole);
  const auto known = [&](const std::string& run) -> Result<RunRecord> { return there.at(run); };
  const auto joining = [&] {
    Joining fresh;
    for (const auto& [id, run] : there) fresh.knows(id, run.cell_id);
    return fresh;
  };
  const auto again = joining().add(whole, portion, known);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->empty());
  for (auto& [id, run] : there)
    if (!run.nodes.empty()) ++run.nodes["client"].metrics["latency"].raw[1];
  const auto other = joining().add(whole, portion, known);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("is there twice and not the same"));
}

TEST_F(Merge, AShareThatIsMissingOrNotAtItsEndIsNoEnd) {
  const auto first = make("first", 0, 2), second = make("second", 1, 2);
  ASSERT_TRUE(merge({first}, {.out = at("one")}));
  EXPECT_EQ(manifest_of(at("one")).finished, 0);
  change_manifest(second, [](auto& manifest) { manifest.finished = 0; });
  ASSERT_TRUE(merge({first, second}, {.out = at("cut")}));
  EXPECT_EQ(manifest_of(at("cut")).finished, 0);
}

TEST_F(Merge, ARunThatIsThereTwiceAndEqualIsKeptOnce) {
  const auto first = make("first", 0, 2), second = make("second", 1, 2), again = make("again", 1, 2);
  ASSERT_TRUE(merge({first, second, again}, {.out = at("out")}));
  EXPECT_EQ(runs_of(at("out")).size(), 7U);
}

TEST_F(Merge, OneThatIsNamedTwiceIsRefused) {
  const auto first = make("first", 0, 1);
  const auto merged = merge({first, first + "/."}, {.out = at("out")});
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().message, HasSubstr("named twice"));
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(Merge, ARunThatIsThereTwiceAndDifferentIsNamed) {
  const auto whole = make("whole", 0, 1);
  const auto bad = cells_[1].id;
  copies_.answer = [&](const SealedOrder& order, int) -> Result<std::string> {
    auto record = testing::measured(order);
    if (order.cell_id == bad && order.repetition == 1) ++record.nodes["client"].metrics["latency"].raw[1];
    return say_record(record);
  };
  const auto other = make("other", 0, 1);
  EXPECT_THAT(
      refusal({whole, other}),
      AllOf(HasSubstr(other + ": run " + bad + "/1/0 is there twice and not the same: "),
            ::testing::ContainsRegex("virtual_clock.digest|nodes.client.metrics.latency.raw.1.: [0-9]+ and [0-9]+"),
            HasSubstr("longhaul verify")));
}

TEST_F(Merge, RefusesPartsOfDifferentCampaigns) {
  const auto first = make("first", 0, 2), second = make("second", 1, 2);
  const auto original = manifest_of(second);
  const auto with = [&](const std::function<void(Manifest&)>& change) {
    change_manifest(second, change);
    const auto message = refusal({first, second});
    EXPECT_THAT(message, HasSubstr(second + ": "));
    change_manifest(second, [&](auto& manifest) { manifest = original; });
    return message;
  };
  EXPECT_THAT(with([](auto& m) { m.seed = 8; }), HasSubstr("its seed is 8, not 7"));
  EXPECT_THAT(with([](auto& m) { m.campaign_text += "# more\n"; }), HasSubstr("it is of another campaign"));
  EXPECT_THAT(with([](auto& m) { m.virtual_clock->image = "another"; }), HasSubstr("its lab is another, not image"));
  EXPECT_THAT(with([](auto& m) { m.virtual_clock->qemu = "11.0"; }), HasSubstr("its QEMU is 11.0, not 10.0-q"));
  EXPECT_THAT(with([](auto& m) { m.virtual_clock->shift = 2; }), HasSubstr("its clock is another: shift 2"));
  EXPECT_THAT(with([](auto& m) { m.virtual_clock->quantum = 200; }), HasSubstr("quantum 200"));
  EXPECT_THAT(with([](auto& m) { m.virtual_clock.reset(); }), HasSubstr("measured by the host's clock"));
  EXPECT_TRUE(merge({first, second}, {.out = at("out")})) << "and now they are alike again";
}

TEST_F(Merge, RefusesWhatIsThereAndWhatIsNot) {
  const auto whole = make("whole", 0, 1);
  EXPECT_THAT(merge({whole}, {.out = whole}).error().message, HasSubstr("holds a campaign already"));
  EXPECT_EQ(runs_of(whole).size(), 7U);
  EXPECT_THAT(refusal({whole, at("nothing")}), HasSubstr("nothing"));
  EXPECT_THAT(refusal({}), HasSubstr("name the run directories"));
}

TEST_F(Merge, WhatElseIsInItsPlaceStays) {
  const auto whole = make("whole", 0, 1);
  fs::create_directory(at("out"));
  std::ofstream(at("out") + "/notes") << "mine";
  EXPECT_FALSE(merge({whole, at("nothing")}, {.out = at("out")}));
  EXPECT_TRUE(fs::exists(at("out") + "/notes"));
  EXPECT_FALSE(fs::exists(at("out") + "/results.db"));
  EXPECT_TRUE(merge({whole}, {.out = at("out")}));
  EXPECT_TRUE(fs::exists(at("out") + "/notes"));
}

}  // namespace
}  // namespace longhaul::orchestrator
