#include "results/summary/comparison.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "results/report/answer.hh"
#include "tests/results/synthetic.hh"

namespace longhaul::results {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

RatioPoint point(std::int64_t delay, double low, double ratio, double high) {
  RatioPoint result{.delay = delay, .ratio = {.value = ratio, .interval = Interval{low, high, 0.95}}};
  result.advantage = low > 1 ? Advantage::rdma : high < 1 ? Advantage::sockets : Advantage::none;
  return result;
}

RatioPoint bare(std::int64_t delay) {
  return {.delay = delay, .ratio = {.value = 5, .interval = {}}};
}

TEST(Crossovers, NoneWhereTheVerdictStays) {
  EXPECT_TRUE(find_crossovers({}).empty());
  EXPECT_TRUE(find_crossovers({point(0, 2, 3, 4), point(10, 1.1, 1.2, 1.3)}).empty());
  EXPECT_TRUE(find_crossovers({point(0, 0.9, 1, 1.1), point(10, 0.8, 1, 1.3)}).empty());
}

TEST(Crossovers, AFlipLiesWhereTheRatioIsOne) {
  // log ratio from +log 4 to -log 2: two thirds of the way, on the logarithmic axis from 1 to 8: 4.
  const auto found = find_crossovers({point(1, 3, 4, 5), point(8, 0.4, 0.5, 0.6)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].from, 1);
  EXPECT_EQ(found[0].to, 8);
  EXPECT_NEAR(found[0].at, 4, 1e-9);
  EXPECT_EQ(found[0].before, Advantage::rdma);
  EXPECT_EQ(found[0].after, Advantage::sockets);
}

TEST(Crossovers, FromZeroTheAxisIsLinear) {
  const auto found = find_crossovers({point(0, 3, 4, 5), point(9, 0.4, 0.5, 0.6)});
  EXPECT_NEAR(found.at(0).at, 6, 1e-9);
}

TEST(Crossovers, ALeadEndsWhereItsBoundIsOne) {
  // The lower bound goes from 4 to 1/2.
  const auto found = find_crossovers({point(1, 4, 5, 6), point(8, 0.5, 0.9, 1.1)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].at, 4, 1e-9);
  EXPECT_EQ(found[0].after, Advantage::none);
  // The other way round: the upper bound of the sockets' lead.
  const auto begins = find_crossovers({point(1, 0.1, 0.2, 0.25), point(8, 0.9, 1.1, 2)});
  EXPECT_NEAR(begins.at(0).at, 4, 1e-9);
}

TEST(Crossovers, PointsWithoutAnIntervalArePassedOver) {
  const auto found = find_crossovers({bare(0), point(1, 3, 4, 5), bare(4), point(8, 0.4, 0.5, 0.6), bare(9)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].from, 1);
  EXPECT_EQ(found[0].to, 8);
}

TEST(Crossovers, EveryChangeIsFound) {
  const auto found =
      find_crossovers({point(1, 2, 3, 4), point(2, 0.9, 1, 1.1), point(4, 0.5, 0.6, 0.7), point(8, 1.1, 1.2, 1.3)});
  ASSERT_EQ(found.size(), 3U);
  for (const auto& one : found) {
    EXPECT_GE(one.at, static_cast<double>(one.from));
    EXPECT_LE(one.at, static_cast<double>(one.to));
  }
}

class PairsTest : public testing::Test {
 protected:
  std::vector<Pairing> pairs(const synthetic::Campaign& campaign) {
    summary_ = *summarise(campaign.manifest, campaign.runs, campaign.facts, words_);
    return pair_transports(summary_.cells, words_);
  }
  Vocabulary words_ = synthetic::vocabulary();
  Summary summary_;
};

TEST_F(PairsTest, EachProviderWithTheSocketsOnItsNetdev) {
  const auto found = pairs(synthetic::campaign());
  ASSERT_EQ(found.size(), 4U);
  for (const auto& pair : found) {
    ASSERT_EQ(pair.points.size(), 4U);
    EXPECT_EQ(pair.op, "write");
    EXPECT_TRUE(pair.soft);
    for (const auto& one : pair.points) {
      const auto cell = [&](const std::string& id) {
        return *std::find_if(summary_.cells.begin(), summary_.cells.end(),
                             [&](const auto& c) { return c.cell_id == id; });
      };
      EXPECT_EQ(cell(one.sockets_cell).rival, pair.provider);
      EXPECT_EQ(cell(one.rdma_cell).provider, pair.provider);
      EXPECT_EQ(cell(one.sockets_cell).forward.asked, one.delay);
    }
  }
  EXPECT_EQ(name_of(found[0], words_), "rxe, 64 B");
  EXPECT_EQ(name_of(found[3], words_), "siw, 16 KiB");
  // 148 us of sockets against 27.4 us.
  EXPECT_NEAR(found[0].points[0].ratio.value, 5.3, 0.4);
  EXPECT_EQ(found[0].points[0].advantage, Advantage::rdma);
}

TEST_F(PairsTest, HigherIsBetterTurnsTheRatioRound) {
  words_.workloads[0].metrics[0].better = Better::higher;
  const auto found = pairs(synthetic::campaign({.delays_ns = {0}, .sizes = {64}}));
  EXPECT_NEAR(found.at(0).points[0].ratio.value, 1 / 5.3, 0.02);
  EXPECT_EQ(found[0].points[0].advantage, Advantage::sockets);
  words_.workloads[0].metrics[0].better = Better::neither;
  EXPECT_TRUE(pairs(synthetic::campaign({.delays_ns = {0}, .sizes = {64}})).empty());
}

TEST_F(PairsTest, SocketsWithoutARivalServeEveryProvider) {
  auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  std::erase_if(campaign.runs, [](const auto& run) {
    return run.parameters.contains("rival") && run.parameters.at("rival") == Value{"siw"};
  });
  std::erase_if(campaign.manifest.cells, [](const auto& cell) {
    return cell.parameters.contains("rival") && cell.parameters.at("rival") == Value{"siw"};
  });
  for (auto& run : campaign.runs) run.parameters.erase("rival");
  for (auto& cell : campaign.manifest.cells) cell.parameters.erase("rival");
  EXPECT_EQ(pairs(campaign).size(), 2U);
}

TEST_F(PairsTest, ReadsOfTheLatencyWorkloadAreNotPaired) {
  auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  const auto change = [](auto& one) {
    if (one.parameters.at("transport") == Value{"rdma"}) one.parameters["op"] = Value{"read"};
  };
  for (auto& run : campaign.runs) change(run);
  for (auto& cell : campaign.manifest.cells) change(cell);
  EXPECT_TRUE(pairs(campaign).empty());
}

TEST_F(PairsTest, OtherConditionsAreOtherPairs) {
  auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  for (auto* list : {&campaign}) {
    for (auto& run : list->runs)
      if (run.parameters.at("transport") == Value{"rdma"}) run.parameters["loss"] = Value{1000};
    for (auto& cell : list->manifest.cells)
      if (cell.parameters.at("transport") == Value{"rdma"}) cell.parameters["loss"] = Value{1000};
  }
  EXPECT_TRUE(pairs(campaign).empty());
}

TEST_F(PairsTest, UnusableCellsHaveNoPair) {
  auto campaign = synthetic::campaign({.delays_ns = {0, 5'000'000}, .sizes = {64}});
  synthetic::spoil(campaign, 1, Status::failed, "no");  // rdma rxe at 5 ms
  const auto found = pairs(campaign);
  EXPECT_EQ(found.at(0).points.size(), 1U);
  EXPECT_EQ(found.at(1).points.size(), 2U);
}

TEST_F(PairsTest, AnswerNamesBothEndsAndTheCrossover) {
  const auto campaign = synthetic::campaign();
  const auto found = pairs(campaign);
  const auto answer = answer_of(summary_, found, words_);
  EXPECT_THAT(answer.question, HasSubstr("faster than sockets"));
  EXPECT_THAT(answer.answer,
              HasSubstr("Without added delay RDMA is 1.8 to 5.3 times as fast as sockets (on rxe and siw)"));
  EXPECT_THAT(answer.answer, HasSubstr("at 20 ms each way the two are within"));
  EXPECT_THAT(answer.answer, HasSubstr("The verdict changes in"));
  auto still = found;
  for (auto& pair : still) pair.crossovers.clear();
  EXPECT_THAT(answer_of(summary_, still, words_).answer,
              HasSubstr("No crossover up to 20 ms: RDMA stays ahead in all 4 pairs."));
  EXPECT_THAT(course_of(still[0]), HasSubstr("crossover: none found"));
  EXPECT_THAT(answer_of(summary_, {}, words_).answer, HasSubstr("Not answered"));
}

// Every cell of the workload on path lan, as campaigns/ may ask for.
synthetic::Campaign on_lan() {
  auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  for (auto& run : campaign.runs) run.parameters["path"] = Value{"lan"};
  for (auto& cell : campaign.manifest.cells) cell.parameters["path"] = Value{"lan"};
  return campaign;
}

TEST_F(PairsTest, ACampaignOnTheLanAloneIsAnsweredForTheLan) {
  const auto found = pairs(on_lan());
  ASSERT_EQ(found.size(), 2U);
  const auto answer = answer_of(summary_, found, words_);
  EXPECT_EQ(answer.question, "Is RDMA faster than sockets on the LAN?");
  EXPECT_THAT(answer.answer, StartsWith("On the LAN RDMA is "));
  EXPECT_THAT(answer.answer, EndsWith("times as fast as sockets (on rxe and siw)."));
}

TEST_F(PairsTest, TheWanIsAnsweredForWhateverStandsBeforeIt) {
  const auto wan = pairs(synthetic::campaign());
  const auto alone = answer_of(summary_, wan, words_);
  auto both = pairs(on_lan());
  both[0].workload = "throughput";
  Pairing empty;
  empty.transport = "rdma";
  both.push_back(empty);
  both.insert(both.end(), wan.begin(), wan.end());
  const auto answer = answer_of(summary_, both, words_);
  EXPECT_EQ(answer.question, alone.question);
  EXPECT_EQ(answer.answer, alone.answer);
  EXPECT_THAT(answer_of(summary_, {empty}, words_).answer, HasSubstr("Not answered"));
}

TEST(ShortNumbers, AsManyDigitsAsTheyAreGoodFor) {
  EXPECT_EQ(short_time(0), "0 ms");
  EXPECT_EQ(short_time(7.234e6), "7.2 ms");
  EXPECT_EQ(short_time(20e6), "20 ms");
  EXPECT_EQ(short_time(11.7e6), "12 ms");
  EXPECT_EQ(short_time(350e3), "350 us");
  EXPECT_EQ(short_time(2e9), "2 s");
  EXPECT_EQ(short_ratio(12.4), "12");
  EXPECT_EQ(short_ratio(5.31), "5.3");
  EXPECT_EQ(short_ratio(1.0987), "1.10");
  EXPECT_EQ(short_ratio(1.0049), "1.005");
  EXPECT_EQ(short_ratio(0.87), "0.87");
  EXPECT_EQ(short_ratio(0.0994), "0.099");
  EXPECT_EQ(short_ratio(0.00471), "0.0047") << "and not 0.00";
}

}  // namespace
}  // namespace longhaul::results
