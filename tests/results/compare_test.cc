#include "results/analyses/compare/compare.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>

#include "results/analyses/compare/changes.hh"

#include "tests/results/synthetic.hh"
#include "tests/results/temporary.hh"
#include "tests/some.hh"

namespace longhaul::results {
namespace {

using testing::HasSubstr;

Comparison compared(const synthetic::Campaign& first, const synthetic::Campaign& second) {
  const auto words = synthetic::vocabulary();
  return compare(*summarise(first.manifest, first.runs, first.facts, words),
                 *summarise(second.manifest, second.runs, second.facts, words), words);
}

TEST(Compare, ACampaignAgreesWithItself) {
  const auto campaign = synthetic::campaign();
  const auto result = compared(campaign, campaign);
  EXPECT_EQ(result.agreeing, 32);
  EXPECT_EQ(result.disagreeing, 0);
  EXPECT_TRUE(result.warnings.empty());
  for (const auto& cell : some(result.figures)) EXPECT_NEAR(cell.ratio->value, 1, 1e-12);
}

// One in twenty differs by chance: with 32 cells, more than 6 would happen once in five hundred times.
TEST(Compare, AnotherDrawAgreesButForChance) {
  const auto result = compared(synthetic::campaign({.seed = 1}), synthetic::campaign({.seed = 2}));
  EXPECT_EQ(result.agreeing + result.disagreeing, 32);
  EXPECT_LE(result.disagreeing, 6);
  EXPECT_NEAR(result.expected_by_chance, 32 * 38.0 / 924, 1e-9);
}

TEST(Compare, ASlowerMachineDiffersWhereTheMachineCounts) {
  const synthetic::Options near{.delays_ns = {0}, .seed = 1};
  auto slower = near;
  slower.seed = 2;
  slower.slower = 1.5;
  const auto result = compared(synthetic::campaign(near), synthetic::campaign(slower));
  EXPECT_EQ(result.disagreeing, 8);
  for (const auto& cell : some(result.figures)) EXPECT_NEAR(cell.ratio->value, 1.5, 0.2);
}

TEST(Compare, TellsWhatOnlyOneHasAndWhatDiffers) {
  auto first = synthetic::campaign({.delays_ns = {0, 5'000'000}, .sizes = {64}});
  auto second = synthetic::campaign({.delays_ns = {0, 20'000'000}, .sizes = {64}, .emulated = false});
  for (auto& [digest, facts] : second.facts) {
    facts.kernel = "6.12";
    facts.machine = "QEMU pc-q35-10.0";
  }
  const auto result = compared(first, second);
  EXPECT_EQ(result.figures.size(), 4U);
  ASSERT_EQ(result.only_first.size(), 4U);
  EXPECT_THAT(result.only_first[0], HasSubstr("delay=5ms"));
  EXPECT_THAT(result.only_second[0], HasSubstr("delay=20ms"));
  const auto text = to_text(result, synthetic::vocabulary());
  EXPECT_THAT(text, HasSubstr("kernel differs: 6.1.0-41-amd64 against 6.12"));
  EXPECT_THAT(text, HasSubstr("emulated"));
  EXPECT_THAT(text, Not(HasSubstr("machine differs"))) << "the first tells none";

  for (auto& [digest, facts] : first.facts) facts.machine = "QEMU pc-q35-7.2";
  EXPECT_THAT(to_text(compared(first, second), synthetic::vocabulary()),
              HasSubstr("machine differs: QEMU pc-q35-7.2 against QEMU pc-q35-10.0"));
}

TEST(Compare, TooFewRunsDecideNothing) {
  const synthetic::Options few{.delays_ns = {0}, .sizes = {64}, .runs = 3};
  const auto result = compared(synthetic::campaign(few), synthetic::campaign(few));
  EXPECT_EQ(result.undecided, 4);
  EXPECT_FALSE(result.figures[0].agrees);
  const auto json = boost::json::parse(to_json(result));
  EXPECT_TRUE(json.at("figures").at(0).at("agrees").is_null());
  EXPECT_EQ(json.at("undecided"), 4);
}

TEST(Compare, NothingInEitherIsAgreement) {
  auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  for (auto& run : campaign.runs)
    for (auto& [node, record] : run.nodes)
      for (auto& [name, metric] : record.metrics) metric = Metric{.value = 0, .samples = 1};
  const auto result = compared(campaign, campaign);
  EXPECT_EQ(result.agreeing + result.disagreeing + result.undecided, 0) << "constants are no evidence";
  EXPECT_EQ(result.constant, 4);
  EXPECT_THAT(to_text(result, synthetic::vocabulary()), HasSubstr("same in every run"));
  EXPECT_THAT(to_text(result, synthetic::vocabulary()), HasSubstr("4 cells more say one thing in every run"));
}

// Ten figures of a cell that are drawn alike: by intervals of 95 % each, 40 % of the cells would differ.
TEST(Compare, ACellDiffersByChanceAsRarelyAsAFigure) {
  std::mt19937 random{3};
  const auto drawn = [&](int cells) {
    Summary summary;
    for (int i = 0; i < cells; ++i) {
      CellSummary cell{.cell_id = std::to_string(i), .workload = "latency"};
      cell.usable = 6;
      for (int m = 0; m < 10; ++m) {
        MetricSummary metric;
        metric.name = "figure " + std::to_string(m);
        for (int run = 0; run < 6; ++run) metric.values.push_back(std::normal_distribution{100.0, 5.0}(random));
        cell.metrics.push_back(metric);
      }
      summary.cells.push_back(cell);
    }
    return summary;
  };
  const auto result = compare(drawn(400), drawn(400), synthetic::vocabulary());
  EXPECT_EQ(result.agreeing + result.disagreeing, 400);
  EXPECT_EQ(result.figures.size(), 4000U);
  EXPECT_LE(result.disagreeing, 32);
  EXPECT_GE(result.disagreeing, 2);
  EXPECT_LE(result.expected_by_chance, 20);
}

Summary seeded(const std::vector<std::uint64_t>& seeds, const std::vector<double>& values) {
  CellSummary cell{.cell_id = "a", .workload = "latency"};
  cell.transport = "rdma";
  cell.provider = "rxe";
  cell.virtual_clock = true;
  cell.usable = static_cast<int>(values.size());
  cell.seeds = seeds;
  MetricSummary metric;
  metric.name = "latency";
  metric.unit = "ns";
  metric.values = values;
  metric.median = median(values);
  cell.metrics.push_back(metric);
  Summary summary;
  summary.cells.push_back(cell);
  return summary;
}

// Seeds vary the figure by a tenth, the kernel changes it by two in a thousand.
TEST(Compare, RunsOfOneSeedArePairs) {
  const std::vector<std::uint64_t> seeds{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> first{1000, 1020, 1040, 1060, 1080, 1100, 1110, 1120};
  std::vector<double> second;
  for (const double value : first) second.push_back(value * 1.002);
  const auto words = synthetic::vocabulary();
  auto earlier = seeded(seeds, first), later = seeded(seeds, second);
  earlier.manifest.lab_kernel = "6.1.0-56-amd64";
  later.manifest.lab_kernel = "6.12.107+deb12-amd64";
  const auto result = compare(earlier, later, words);
  ASSERT_EQ(result.figures.size(), 1U);
  EXPECT_TRUE(result.figures[0].paired);
  EXPECT_EQ(result.paired, 1);
  EXPECT_EQ(result.figures[0].agrees, false);
  EXPECT_NEAR(result.figures[0].ratio->interval->low, 1.002, 1e-9);
  EXPECT_NEAR(result.figures[0].ratio->interval->high, 1.002, 1e-9);
  EXPECT_EQ(result.kernels, (std::pair<std::string, std::string>{"6.1.0-56-amd64", "6.12.107+deb12-amd64"}));
  const auto kinds = changes(result);
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].side, "rdma over rxe");
  EXPECT_EQ(kinds[0].more, 1);
  EXPECT_NEAR(kinds[0].median, 1.002, 1e-9);
  EXPECT_THAT(to_text(result, words), HasSubstr("1 figures were compared in pairs"));
  EXPECT_THAT(to_text(result, words),
              HasSubstr("latency, rdma over rxe: second / first 1.002 in the median of 1 cells"));

  // Other seeds are no pairs: among runs that differ by a tenth, two in a thousand are nothing.
  const auto strangers = compare(earlier, seeded({11, 12, 13, 14, 15, 16, 17, 18}, second), words);
  EXPECT_FALSE(strangers.figures[0].paired);
  EXPECT_EQ(strangers.figures[0].agrees, true);
  // Of five pairs no test can say anything; all with all, five and five can.
  const auto few =
      compare(seeded({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}), seeded({1, 2, 3, 4, 5}, {11, 12, 13, 14, 15}), words);
  EXPECT_FALSE(few.figures[0].paired);
  EXPECT_EQ(few.figures[0].agrees, false);
}

TEST(Compare, ReadsDirectories) {
  const TemporaryDirectory scratch;
  ASSERT_TRUE(synthetic::write(synthetic::campaign({.delays_ns = {0}, .sizes = {64}}), scratch.path() / "a"));
  const auto missing = compare(scratch.path() / "a", scratch.path() / "b", synthetic::vocabulary());
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("b/results.db: no such file"));
  const auto same = compare(scratch.path() / "a", scratch.path() / "a", synthetic::vocabulary());
  ASSERT_TRUE(same);
  EXPECT_EQ(same->agreeing, 4);
  EXPECT_THAT(same->first, HasSubstr("/a (quick)"));
}

}  // namespace
}  // namespace longhaul::results
