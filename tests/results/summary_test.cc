#include "results/summary/summary.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/metrics/metrics.hh"
#include "results/summary/testbeds.hh"
#include "tests/results/synthetic.hh"
#include "tests/some.hh"

namespace longhaul::results {
namespace {

using testing::ElementsAre;

synthetic::Campaign one_size() {
  return synthetic::campaign({.delays_ns = {0, 5'000'000}, .sizes = {64}});
}

// The runs of the campaign's first cell.
std::vector<RunRecord*> first_cell(synthetic::Campaign& campaign) {
  std::vector<RunRecord*> runs;
  for (auto& run : campaign.runs)
    if (run.cell_id == campaign.manifest.cells[0].cell_id) runs.push_back(&run);
  return runs;
}

TEST(Summary, MedianOfTheRunsMedians) {
  auto campaign = one_size();
  const auto runs = first_cell(campaign);
  std::int64_t values[] = {30'000, 10'000, 20'000, 60'000, 50'000, 40'000};
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i]->nodes["client"].metrics["latency"].value = static_cast<double>(values[i]);
  const auto summary = synthetic::summed(campaign);
  const auto& cell = summary.cells[0];
  const auto* latency = cell.metric("latency");
  ASSERT_NE(latency, nullptr);
  EXPECT_THAT(latency->values, ElementsAre(30'000, 10'000, 20'000, 60'000, 50'000, 40'000));
  EXPECT_EQ(latency->median, 35'000);
  EXPECT_EQ(latency->interval->low, 10'000);
  EXPECT_EQ(latency->interval->high, 60'000);
  EXPECT_EQ(latency->unit, "ns");
  EXPECT_EQ(cell.status, Status::ok);
  EXPECT_EQ(cell.usable, 6);
  EXPECT_TRUE(cell.message.empty());
}

TEST(Summary, P99NeedsAThousandPooledSamples) {
  auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}, .samples = 166});
  EXPECT_FALSE(synthetic::summed(campaign).cells[0].metric("latency")->p99);  // 996
  campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}, .samples = 167});
  const auto summary = synthetic::summed(campaign);
  const auto* latency = summary.cells[0].metric("latency");
  ASSERT_TRUE(latency->p99);
  EXPECT_EQ(latency->samples, 1002U);
  EXPECT_EQ(*latency->p99, latency->pooled.quantile(0.99));
}

TEST(Summary, AchievedDelayIsTheMedianOverRunsPerDirection) {
  auto campaign = one_size();
  const auto runs = first_cell(campaign);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i]->path->forward.achieved = 100 * static_cast<std::int64_t>(i);
    runs[i]->path->back.achieved = 7;
    runs[i]->path->back.samples = i < 2 ? 0 : 10;
    runs[i]->path->forward.dropped = 1;
  }
  const auto summary = synthetic::summed(campaign);
  EXPECT_EQ(*summary.cells[0].forward.achieved, 250);
  EXPECT_EQ(*summary.cells[0].back.achieved, 7);
  EXPECT_EQ(summary.cells[0].forward.dropped, 6U);
  for (auto* run : runs) run->path.reset();
  EXPECT_FALSE(synthetic::summed(campaign).cells[0].forward.achieved);
}

TEST(Summary, ARefusedRunThatWasRepeatedDoesNotCount) {
  auto campaign = one_size();
  auto extra = *first_cell(campaign)[0];
  extra.run_id += "-refused";
  extra.status = Status::refused;
  extra.message = "achieved 7 ms";
  extra.nodes["client"].metrics["latency"].value = 1;
  campaign.runs.push_back(extra);
  const auto summary = synthetic::summed(campaign);
  const auto& cell = summary.cells[0];
  EXPECT_EQ(cell.status, Status::ok);
  EXPECT_EQ(cell.usable, 6);
  EXPECT_EQ(cell.runs.at(Status::refused), 1);
  EXPECT_GT(cell.metric("latency")->interval->low, 1);
}

TEST(Summary, StatusOfACell) {
  struct Case {
    std::vector<Status> runs;
    Status expected;
  };
  using enum Status;
  const Case cases[] = {
      {{ok, ok, ok, ok, ok, ok}, ok},
      {{ok, ok, limited, ok, ok, ok}, limited},
      {{unsupported, unsupported, unsupported, unsupported, unsupported, unsupported}, unsupported},
      {{ok, ok, ok, refused, refused, failed}, refused},
      {{ok, ok, ok, refused, failed, failed}, failed},
      {{ok, ok, ok, ok, refused, failed}, failed},
  };
  for (const auto& [statuses, expected] : cases) {
    auto campaign = one_size();
    const auto runs = first_cell(campaign);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i]->status = statuses[i];
      runs[i]->message = statuses[i] == ok ? "" : "because";
    }
    const auto summary = synthetic::summed(campaign);
    EXPECT_EQ(summary.cells[0].status, expected);
    EXPECT_EQ(summary.cells[0].message, expected == ok ? "" : "because");
  }
}

TEST(Summary, CellsThatWereNotMeasuredAreThere) {
  auto campaign = one_size();
  const auto id = campaign.manifest.cells[0].cell_id;
  std::erase_if(campaign.runs, [&](const auto& run) { return run.cell_id == id && run.repetition > 1; });
  auto summary = synthetic::summed(campaign);
  EXPECT_EQ(summary.cells[0].status, Status::failed);
  EXPECT_EQ(summary.cells[0].message, "not measured: 2 of 6 runs");
  EXPECT_FALSE(summary.cells[0].metric("latency")->interval);
  std::erase_if(campaign.runs, [&](const auto& run) { return run.cell_id == id; });
  summary = synthetic::summed(campaign);
  EXPECT_EQ(summary.cells.size(), 8U);
  EXPECT_EQ(summary.cells[0].message, "not measured: 0 of 6 runs");
  EXPECT_TRUE(summary.cells[0].metrics.empty());
}

TEST(Summary, SoftProvidersAndEmulationAreMarked) {
  auto summary = synthetic::summed(one_size());
  EXPECT_TRUE(summary.emulated);
  for (const auto& cell : some(summary.cells)) EXPECT_TRUE(cell.soft && cell.emulated);
  const auto real = synthetic::campaign({.delays_ns = {0}, .sizes = {64}, .emulated = false});
  summary = synthetic::summed(real);
  EXPECT_FALSE(summary.emulated);
  EXPECT_FALSE(is_soft_provider("mlx5"));
  // One emulated node is enough, whatever the inventory says.
  auto mixed = real;
  mixed.facts.begin()->second.emulated = true;
  EXPECT_TRUE(synthetic::summed(mixed).emulated);
}

TEST(Summary, NamesWhatTheClientUsed) {
  const auto summary = synthetic::summed(one_size());
  EXPECT_EQ(summary.cells[0].device, "rxe_a0");
  EXPECT_EQ(summary.cells[0].provider, "rxe");
  EXPECT_EQ(summary.cells[2].device, "a0");
  EXPECT_EQ(summary.cells[2].provider, "kernel");
  EXPECT_EQ(summary.cells[2].rival, "rxe");
  EXPECT_EQ(summary.cells[0].topology, "compact");
}

NodeRecord node(Role role, double value, std::vector<std::int64_t> samples) {
  NodeRecord record{.workload = "w", .role = role};
  Metric metric{.value = value, .samples = samples.size()};
  if (!samples.empty()) {
    Histogram histogram;
    for (const auto sample : samples) histogram.record(sample);
    metric.distribution = to_data(histogram);
  }
  record.metrics["m"] = metric;
  return record;
}

TEST(Testbeds, AreToldByTheirNodesAndComparedByTheirFigures) {
  auto campaign = synthetic::campaign({.delays_ns = {0, 5'000'000}, .sizes = {64}, .noise = 0});
  EXPECT_TRUE(testbed_shares(synthetic::summed(campaign)).empty()) << "one is shared with nobody";
  EXPECT_TRUE(synthetic::summed(campaign).cells[0].testbeds.empty());
  synthetic::share(campaign, 1.25);
  const auto summary = synthetic::summed(campaign);
  EXPECT_THAT(summary.cells[0].testbeds, ElementsAre(0, 1, 0, 1, 0, 1));
  const auto shares = testbed_shares(summary);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].nodes.front(), "client");
  EXPECT_EQ(shares[1].nodes.front(), "west-client");
  for (const auto& share : shares) EXPECT_EQ(share.runs, 8 * 3);
  ASSERT_TRUE(shares[0].ratio && shares[1].ratio);
  EXPECT_NEAR(*shares[1].ratio, 1.25, 1e-4);
  EXPECT_NEAR(*shares[0].ratio, 0.8, 1e-4);
}

TEST(Testbeds, OneThatMadeNothingIsComparedWithNothing) {
  auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  synthetic::share(campaign, 1);
  std::erase_if(campaign.runs, [](const RunRecord& run) { return run.repetition % 2 == 1; });
  const auto shares = testbed_shares(synthetic::summed(campaign));
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[1].runs, 0);
  EXPECT_FALSE(shares[0].ratio);
  EXPECT_FALSE(shares[1].ratio);
}

TEST(RunMetrics, TheClientsFigureCounts) {
  RunRecord run{.run_id = "r"};
  run.nodes["s"] = node(Role::server, 5, {});
  EXPECT_EQ(run_metrics(run)->at("m").value, 5);
  run.nodes["c"] = node(Role::client, 3, {});
  EXPECT_EQ(run_metrics(run)->at("m").value, 3);
  run.nodes["s"].metrics["busy"] = {.value = 9, .samples = 1};
  EXPECT_EQ(run_metrics(run)->at("busy").value, 9);
}

TEST(RunMetrics, SeveralClientsArePooled) {
  RunRecord run{.run_id = "r"};
  run.nodes["c1"] = node(Role::client, 1, {1, 1, 1, 1, 1});
  run.nodes["c2"] = node(Role::client, 100, {100, 100});
  auto metric = run_metrics(run)->at("m");
  EXPECT_EQ(metric.value, 1);
  EXPECT_EQ(metric.samples, 7U);
  EXPECT_EQ(metric.distribution->count(), 7U);
  run.nodes["c2"] = node(Role::client, 100, {});
  metric = run_metrics(run)->at("m");
  EXPECT_EQ(metric.value, 50.5);
  EXPECT_FALSE(metric.distribution);
}

TEST(Vocabulary, SpellsValuesAndDefaults) {
  const auto words = synthetic::vocabulary();
  EXPECT_EQ(words.spelt("latency", {{"size", Value{16384}}}, "size"), "16KiB");
  EXPECT_EQ(words.spelt("latency", {}, "size"), "64B");
  EXPECT_EQ(words.spelt("latency", {{"jitter", Value{1'500}}}, "jitter"), "1.5us");
  EXPECT_EQ(words.spelt("latency", {}, "path"), "wan");
  EXPECT_EQ(words.spelt("latency", {{"novel", Value{7}}}, "novel"), "7");
  EXPECT_EQ(words.spelt("latency", {}, "novel"), "");
}

}  // namespace
}  // namespace longhaul::results
