#include "results/analyses/history/history.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "tests/results/synthetic.hh"
#include "tests/some.hh"

namespace longhaul::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

NamedSummary named(const std::string& name, std::int64_t started, const synthetic::Options& options,
                   const std::string& kernel = "6.1") {
  auto campaign = synthetic::campaign(options);
  campaign.manifest.started = started;
  for (auto& [digest, facts] : campaign.facts) facts.kernel = kernel;
  return {name, *summarise(campaign.manifest, campaign.runs, campaign.facts, synthetic::vocabulary())};
}

synthetic::Options near(unsigned seed, double slower = 1) {
  return {.delays_ns = {0}, .sizes = {64}, .seed = seed, .noise = 0.01, .slower = slower};
}

TEST(History, FollowsAFigureInTimeAndSaysWhatChanged) {
  constexpr std::int64_t kDay = 86'400'000'000'000;
  // Given in another order than they were made.
  const auto made = history({named("slow", 3 * kDay, near(3, 1.5), "6.12"), named("first", kDay, near(1)),
                             named("second", 2 * kDay, near(2))},
                            "latency", "", synthetic::vocabulary());
  ASSERT_EQ(made.cells.size(), 4U);
  for (const auto& cell : some(made.cells)) {
    EXPECT_EQ(cell.metric, "latency");
    ASSERT_EQ(cell.points.size(), 3U);
    EXPECT_EQ(cell.points[0].campaign, "first");
    EXPECT_FALSE(cell.points[0].ratio);
    EXPECT_TRUE(cell.points[0].changed.empty());
    EXPECT_NEAR(cell.points[1].ratio->value, 1, 0.05);
    EXPECT_TRUE(cell.points[1].changed.empty());
    EXPECT_EQ(cell.points[2].campaign, "slow");
    EXPECT_NEAR(cell.points[2].ratio->value, 1.5, 0.1);
    EXPECT_EQ(cell.points[2].agrees, false);
    EXPECT_THAT(cell.points[2].changed, ElementsAre("kernel differs: 6.1 against 6.12"));
  }
  const auto text = to_text(made, synthetic::vocabulary());
  EXPECT_THAT(text, HasSubstr("1970-01-02 00:00"));
  EXPECT_THAT(text, HasSubstr("kernel differs: 6.1 against 6.12"));
  EXPECT_THAT(text, HasSubstr("DIFFERS"));
  const auto document = boost::json::parse(to_json(made));
  EXPECT_EQ(document.at("cells").as_array().size(), 4U);
  EXPECT_TRUE(document.at("cells").at(0).at("points").at(0).at("ratio").is_null());
  EXPECT_TRUE(document.at("cells").at(0).at("points").at(2).at("ratio_low").is_double());
}

// A cell is compared with the last campaign that has it, not with one that has not.
TEST(History, SkipsCampaignsWithoutTheCell) {
  auto other = near(2);
  other.sizes = {16384};
  const auto made = history({named("a", 1, near(1)), named("b", 2, other), named("c", 3, near(3))}, "latency",
                            "latency", synthetic::vocabulary());
  ASSERT_EQ(made.cells.size(), 8U);
  ASSERT_EQ(made.cells[0].points.size(), 2U);
  EXPECT_EQ(made.cells[0].points[1].campaign, "c");
  EXPECT_TRUE(made.cells[0].points[1].ratio);
  EXPECT_EQ(made.cells[4].points.size(), 1U);
}

TEST(History, HasNoCellsOfOtherWorkloadsAndMetrics) {
  EXPECT_TRUE(history({named("a", 1, near(1))}, "overlap", "", synthetic::vocabulary()).cells.empty());
  EXPECT_TRUE(history({named("a", 1, near(1))}, "latency", "none", synthetic::vocabulary()).cells.empty());
}

}  // namespace
}  // namespace longhaul::results
