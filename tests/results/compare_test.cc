#include "results/analyses/compare/compare.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>

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
  for (auto& [digest, facts] : second.facts) facts.kernel = "6.12";
  const auto result = compared(first, second);
  EXPECT_EQ(result.figures.size(), 4U);
  ASSERT_EQ(result.only_first.size(), 4U);
  EXPECT_THAT(result.only_first[0], HasSubstr("delay=5ms"));
  EXPECT_THAT(result.only_second[0], HasSubstr("delay=20ms"));
  const auto text = to_text(result, synthetic::vocabulary());
  EXPECT_THAT(text, HasSubstr("kernel differs: 6.1.0-41-amd64 against 6.12"));
  EXPECT_THAT(text, HasSubstr("emulated"));
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
