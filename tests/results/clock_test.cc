// A virtual clock, from the records to whatever people read.
#include "results/summary/clock.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "results/analyses/compare/compare.hh"
#include "results/claims/check.hh"
#include "results/report/data.hh"
#include "results/report/report.hh"
#include "results/summary/comparison.hh"
#include "results/summary/processor.hh"
#include "tests/results/synthetic.hh"
#include "tests/results/temporary.hh"
#include "tests/some.hh"

namespace longhaul::results {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

synthetic::Campaign virtual_one(int runs = 6) {
  return synthetic::campaign({.delays_ns = {0, 5'000'000}, .sizes = {64}, .runs = runs, .virtual_clock = true});
}

synthetic::Campaign host_one() {
  return synthetic::campaign({.delays_ns = {0, 5'000'000}, .sizes = {64}});
}

// Both in one directory, as nothing of ours leaves it.
synthetic::Campaign mixed() {
  auto both = host_one();
  const auto other = virtual_one();
  both.manifest.cells.insert(both.manifest.cells.end(), other.manifest.cells.begin(), other.manifest.cells.end());
  both.runs.insert(both.runs.end(), other.runs.begin(), other.runs.end());
  return both;
}

TEST(Clock, IsTheCellsAndTheSummarys) {
  EXPECT_EQ(clock_of(synthetic::summed(host_one())), "host");
  const auto summary = synthetic::summed(virtual_one());
  EXPECT_EQ(clock_of(summary), "virtual");
  for (const auto& cell : some(summary.cells)) {
    EXPECT_TRUE(cell.virtual_clock && cell.emulated);
    EXPECT_FALSE(noisy(cell));
  }
  EXPECT_TRUE(noisy(synthetic::summed(host_one()).cells[0]));
  EXPECT_EQ(clock_of(synthetic::summed(mixed())), "both");
  EXPECT_EQ(clock_of(Summary{}), "host");
}

TEST(Clock, RunsThatAreAllTheSameHaveAnIntervalWithoutWidth) {
  const auto summary = synthetic::summed(virtual_one());
  for (const auto& cell : some(summary.cells)) {
    const auto* latency = cell.metric("latency");
    ASSERT_TRUE(latency->interval);
    EXPECT_EQ(latency->interval->low, latency->median);
    EXPECT_EQ(latency->interval->high, latency->median);
    EXPECT_EQ(precision(latency->values), 0.0);
  }
  for (const auto& pairing : some(pair_transports(summary.cells, synthetic::vocabulary())))
    for (const auto& point : some(pairing.points)) {
      EXPECT_EQ(point.ratio.interval->low, point.ratio.interval->high);
      EXPECT_NE(point.advantage, Advantage::unknown);
    }
}

TEST(Clock, HasAColumnAndIsNoParameter) {
  const auto text = csv_of(synthetic::summed(virtual_one()), synthetic::vocabulary());
  EXPECT_THAT(text, HasSubstr(",params,clock\n"));
  EXPECT_THAT(text, HasSubstr(",compact,{},virtual\n"));
  EXPECT_THAT(text, Not(HasSubstr(",host\n")));
  EXPECT_THAT(text, Not(HasSubstr("\"\"clock\"\"")));
  EXPECT_THAT(csv_of(synthetic::summed(host_one()), synthetic::vocabulary()), HasSubstr(",compact,{},host\n"));
}

TEST(Clock, CellsOfDifferentClocksAreNeverPooledNorCompared) {
  const auto summary = synthetic::summed(mixed());
  EXPECT_EQ(summary.cells.size(), 16U);
  for (const auto& cell : some(summary.cells)) EXPECT_EQ(cell.usable, 6);
  const auto clock_of_cell = [&](const std::string& id) {
    for (const auto& cell : summary.cells)
      if (cell.cell_id == id) return cell.virtual_clock;
    return false;
  };
  const auto pairings = pair_transports(summary.cells, synthetic::vocabulary());
  EXPECT_EQ(pairings.size(), 4U);
  for (const auto& pairing : pairings)
    for (const auto& point : some(pairing.points))
      EXPECT_EQ(clock_of_cell(point.rdma_cell), clock_of_cell(point.sockets_cell));
  std::vector<std::string> groups;
  for (const auto& one : check_claims(summary, synthetic::vocabulary(), all_claims()))
    for (const auto& finding : one.findings) {
      groups.push_back(finding.group);
      for (const auto& [id, x] : finding.cells)
        EXPECT_EQ(clock_of_cell(id), finding.group.ends_with("virtual clock")) << finding.group;
    }
  EXPECT_THAT(groups, Contains("rxe"));
  EXPECT_THAT(groups, Contains("rxe, virtual clock"));
}

TEST(Clock, AnotherClockIsAnotherCellToCompare) {
  const auto words = synthetic::vocabulary();
  const auto result = compare(synthetic::summed(host_one()), synthetic::summed(virtual_one()), words);
  EXPECT_TRUE(result.figures.empty());
  EXPECT_EQ(result.only_first.size(), 8U);
  const auto text = to_text(result, words);
  EXPECT_THAT(text, HasSubstr("clock differs: host against virtual"));
  EXPECT_THAT(text, HasSubstr("no times of a network"));
}

// However few the runs are, and processor time with them.
TEST(Clock, TheSameRunByRunAgrees) {
  const auto words = synthetic::vocabulary();
  auto campaign = virtual_one(2);
  const auto summary = synthetic::summed(campaign);
  auto result = compare(summary, summary, words);
  EXPECT_EQ(result.agreeing, 8);
  EXPECT_EQ(result.exact, 8 * 15);
  EXPECT_EQ(result.identical, 8 * 15);
  EXPECT_EQ(result.undecided + result.disagreeing, 0);
  EXPECT_THAT(to_text(result, words), HasSubstr("120 of 120 figures by the virtual clock are the same in every run"));
  campaign.runs.back().nodes.at("client").metrics.at("latency").value += 1;
  result = compare(summary, synthetic::summed(campaign), words);
  EXPECT_EQ(result.identical, 8 * 15 - 1);
  EXPECT_EQ(result.undecided, 1);
  EXPECT_EQ(boost::json::parse(to_json(result)).at("identical"), 119);
  EXPECT_THAT(to_text(compare(synthetic::summed(host_one()), synthetic::summed(host_one()), words), words),
              Not(HasSubstr("virtual")));
}

TEST(Clock, IsSaidWhereFiguresAre) {
  const auto words = synthetic::vocabulary();
  const auto summary = synthetic::summed(virtual_one());
  const auto headline = headline_of(analyse(summary, words));
  EXPECT_THAT(headline, HasSubstr("All of it was measured by a virtual clock: a fixed cost per instruction"));
  EXPECT_THAT(headline, Not(HasSubstr("Emulated processors")));
  EXPECT_THAT(headline_of(analyse(synthetic::summed(host_one()), words)), HasSubstr("Emulated processors"));
  const auto claims = boost::json::parse(claims_of(analyse(summary, words)));
  EXPECT_EQ(claims.at("clock").as_string(), "virtual");
  EXPECT_THAT(std::string{claims.at("limits").as_string()}, HasSubstr("no caches"));
  const auto of_host = boost::json::parse(claims_of(analyse(synthetic::summed(host_one()), words)));
  EXPECT_EQ(of_host.at("clock").as_string(), "host");
  EXPECT_FALSE(of_host.as_object().contains("limits"));
  EXPECT_THAT(to_text(check_claims(summary, words, all_claims()), summary),
              HasSubstr("These cells were measured by a"));
}

TEST(Clock, IsAConditionOfThePageOnlyWhereItTellsCellsApart) {
  const auto words = synthetic::vocabulary();
  const auto conditions = [&](const synthetic::Campaign& campaign) {
    return boost::json::serialize(data_of(analyse(synthetic::summed(campaign), words), false)
                                      .at("cells")
                                      .at(15 % campaign.manifest.cells.size())
                                      .at("conditions"));
  };
  EXPECT_EQ(conditions(virtual_one()), "{}");
  EXPECT_EQ(conditions(mixed()), R"({"clock":"virtual"})");
  const auto data = data_of(analyse(synthetic::summed(virtual_one()), words), false);
  EXPECT_EQ(data.at("clock").as_string(), "virtual");
  EXPECT_EQ(data.at("virtual_clock").at("shift"), 1);
  EXPECT_EQ(data.at("cells").at(0).at("cpu").as_array().size(), 14U);
  EXPECT_TRUE(data_of(analyse(synthetic::summed(host_one()), words), false).at("virtual_clock").is_null());
}

TEST(Clock, GoesThroughTheStore) {
  const TemporaryDirectory scratch;
  const auto campaign = virtual_one();
  ASSERT_TRUE(synthetic::write(campaign, scratch.path()));
  const auto store = Store::open(scratch.path(), OpenMode::read);
  EXPECT_EQ(store->manifest()->virtual_clock->qemu, campaign.manifest.virtual_clock->qemu);
  const auto runs = store->runs();
  for (const auto& run : some(*runs)) EXPECT_EQ(samples_digest(run), run.virtual_clock->digest);
  EXPECT_EQ((*runs)[0].virtual_clock->digest, runs->at(8).virtual_clock->digest);  // the cell's second run
}

}  // namespace
}  // namespace longhaul::results
