// Cells that cross no path: no transport, no delay, one node.
#include "results/report/local_axes.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>

#include "results/analyses/compare/compare.hh"
#include "results/report/data.hh"
#include "results/report/report.hh"
#include "results/simulation/records.hh"
#include "tests/results/synthetic.hh"
#include "tests/results/temporary.hh"
#include "tests/some.hh"

namespace longhaul::results {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Alone, IsSummarisedWithoutAPath) {
  const auto summary = synthetic::summed(synthetic::alone());
  ASSERT_EQ(summary.cells.size(), 6U);
  for (const auto& cell : summary.cells) {
    EXPECT_EQ(cell.status, Status::ok) << cell.message;
    EXPECT_EQ(cell.transport + cell.provider + cell.rival + cell.device, "");
    EXPECT_FALSE(cell.soft);
    EXPECT_FALSE(cell.forward.achieved || cell.rtt);
    ASSERT_FALSE(cell.metrics.empty());
    EXPECT_EQ(cell.metrics.front().name, "hit_ratio");
    ASSERT_TRUE(cell.metrics.front().interval);
    EXPECT_EQ(cell.metrics.front().interval->low, cell.metrics.front().interval->high);
  }
}

// cell, workload, then nothing of transport, delay and path.
TEST(Alone, HasEmptyColumnsInTheTable) {
  const auto text = csv_of(synthetic::summed(synthetic::alone()), synthetic::vocabulary());
  EXPECT_THAT(text, HasSubstr(",simulation,,,,,,,,,,,,hit_ratio,1,6,600,0.5,0.5,0.5,,ok,,,,,compact,"));
  EXPECT_THAT(text, HasSubstr(R"(,""objects"":500,""policy"":""mrrc""}")"));
}

TEST(Alone, IsDrawnAlongItsOwnAxisByWhatVaries) {
  const auto data = data_of(analyse(synthetic::summed(synthetic::alone()), synthetic::vocabulary()), true);
  const auto& workload = data.at("workloads").at(0);
  EXPECT_TRUE(workload.at("alone").as_bool());
  EXPECT_EQ(workload.at("surface").at("name").as_string(), "capacity");
  EXPECT_EQ(workload.at("surface").at("kind").as_string(), "size");
  const auto& first = data.at("cells").at(0);
  EXPECT_EQ(first.at("variant").as_string(), "policy lru");  // a default, but others have another
  EXPECT_EQ(first.at("along").as_int64(), 1 << 20);
  EXPECT_TRUE(first.at("size").is_null());
  EXPECT_EQ(boost::json::serialize(first.at("conditions")), R"({"objects":"500"})");
  EXPECT_TRUE(data.at("pairs").as_array().empty());
  EXPECT_EQ(data.at("answer").as_string(),
            "simulation: the best hit_ratio is 0.8 at capacity 4MiB, objects 500, policy mrrc; the worst is 0.4 at "
            "capacity 1MiB, objects 500.");
}

TEST(Alone, NothingOfItStopsClaimsPageAndHeadline) {
  const auto summary = synthetic::summed(synthetic::alone());
  const auto words = synthetic::vocabulary();
  EXPECT_THAT(page_of(analyse(summary, words)), HasSubstr("What gives the best figures?"));
  EXPECT_THAT(headline_of(analyse(summary, words)), HasSubstr("6 cells: 6 ok"));
  EXPECT_FALSE(boost::json::parse(claims_of(analyse(summary, words))).at("claims").as_array().empty());
}

TEST(Alone, AgreesWithItselfAfterOneRun) {
  auto campaign = synthetic::alone();
  std::erase_if(campaign.runs, [](const auto& run) { return run.repetition > 0; });
  campaign.manifest.repetitions_min = campaign.manifest.repetitions_max = 1;
  const auto summary = synthetic::summed(campaign);
  const auto same = compare(summary, summary, synthetic::vocabulary());
  EXPECT_EQ(same.agreeing, 6);
  EXPECT_EQ(same.undecided, 0);
}

// With a transport it has a device, but still no path.
TEST(Alone, OverATransportCrossesNothingEither) {
  auto campaign = synthetic::alone();
  for (auto& cell : campaign.manifest.cells) {
    const auto before = cell.cell_id;
    cell.parameters["transport"] = Value{"rdma"};
    cell.parameters["provider"] = Value{"siw"};
    for (auto& run : campaign.runs)
      if (run.cell_id == before) {
        run.parameters = cell.parameters;
        run.nodes.at("client").transport = TransportFacts{.transport = "rdma", .provider = "siw", .device = "siw_a1"};
      }
  }
  const auto text = csv_of(synthetic::summed(campaign), synthetic::vocabulary());
  EXPECT_THAT(text, HasSubstr(",simulation,rdma,siw,siw_a1,,,,,,,,,hit_ratio,1,6,600,"));
  EXPECT_THAT(text, HasSubstr(",ok,,,,,compact,"));
}

constexpr const char* kDocument =
    R"({"schema":1,"version":"0","profiles":[{"name":"wu2003"}],"policies":[{"name":"lru"}],
 "traces":[{"name":"a.log","requests":1000,"request_pages":2,"shares":{"1":0.25,"32":1},"rows":[
  {"policy":"none","capacity_bytes":0,"cost_profile":"wu2003","hit_ratio":0,"cost_us":1000,"cost_saved":0,"registrations":1000,"deregistrations":1000,"batches":1000},
  {"policy":"lru","capacity_bytes":8388608,"cost_profile":"wu2003","hit_ratio":0.5,"cost_us":500.5,"cost_saved":0.5,"registrations":500,"deregistrations":400,"batches":40},
  {"policy":"lru","capacity_bytes":8388608,"cost_profile":"wu2003","hit_ratio":0.5,"cost_us":500.5,"cost_saved":0.5,"registrations":500,"deregistrations":400,"batches":40},
  {"policy":"pfoo-l","capacity_bytes":8388608,"cost_profile":"wu2003","hit_ratio":0.75,"cost_us":250,"cost_saved":0.75,"registrations":250,"deregistrations":250,"batches":250}]},
 {"name":"a.log","requests":10,"request_pages":1,"shares":{"1":1,"32":1},"rows":[
  {"policy":"lru","capacity_bytes":4096,"cost_profile":"mietke","hit_ratio":0.5,"cost_us":5,"cost_saved":0.5,"registrations":5,"deregistrations":4,"batches":4}]}]})";

const Simulated kMade{.command = "longhaul simulate --trace a.log", .version = "0.1.0", .started = 5, .finished = 9};

TEST(SimulationRecords, AreRunsOfTheWorkload) {
  const auto runs = simulation_records(kDocument, kMade, synthetic::vocabulary());
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 4U);  // what is there twice is one
  const auto& lru = runs->at(1);
  EXPECT_EQ(lru.workload, "simulation");
  EXPECT_EQ(lru.parameters, (Parameters{{"trace", "a.log"}}));  // the rest is at its default
  EXPECT_EQ(lru.run_id, lru.cell_id + "/0/0");
  EXPECT_EQ(lru.status, Status::ok);
  EXPECT_EQ(lru.started, 5);
  const auto& node = lru.nodes.at("local");
  EXPECT_EQ(node.role, Role::local);
  EXPECT_EQ(node.metrics.at("cost").value, 500'500);
  EXPECT_EQ(node.metrics.at("hit_ratio").samples, 1000U);
  EXPECT_EQ(node.metrics.at("share_1").value, 0.25);
  EXPECT_EQ(node.metrics.at("request_pages").value, 2);
  EXPECT_EQ(runs->at(0).parameters.at("capacity"), Value{0});
  EXPECT_EQ(runs->at(2).parameters.at("policy"), Value{"pfoo-l"});
  EXPECT_EQ(runs->at(3).parameters.at("trace"), Value{"a.log-2"});
  EXPECT_THAT(simulation_records("[]", kMade, synthetic::vocabulary()).error().message,
              HasSubstr("not what `longhaul simulate` writes"));
  EXPECT_THAT(simulation_records(R"({"schema":1,"profiles":[1],"policies":[1],"traces":[{"name":"x"}]})", kMade,
                                 synthetic::vocabulary())
                  .error()
                  .message,
              HasSubstr("not what this version"));
}

TEST(SimulationRecords, ReplaceTheirOwnKindOnly) {
  const TemporaryDirectory scratch;
  const auto words = synthetic::vocabulary();
  std::ofstream{scratch.path() / "simulate.json"} << kDocument;
  for (int i = 0; i < 2; ++i) {
    const auto written = write_simulation_records(scratch.path(), kMade, words);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_THAT(*written, testing::ElementsAre(scratch.path() / "results.db", scratch.path() / "cells.csv"));
  }
  const auto summary = summarise_directory(scratch.path().string(), words);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->cells.size(), 4U);
  for (const auto& cell : some(summary->cells)) EXPECT_EQ(cell.status, Status::ok) << cell.message;
  EXPECT_EQ(summary->manifest.command, kMade.command);
  EXPECT_TRUE(write_report(scratch.path(), *analyse_directory(scratch.path().string(), words)));

  const auto campaign = scratch.path() / "campaign";
  ASSERT_TRUE(synthetic::write(synthetic::alone(), campaign));
  std::ofstream{campaign / "simulate.json"} << kDocument;
  const auto refused = write_simulation_records(campaign, kMade, words);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("holds the results of a campaign (simulated)"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("--resume")));
  EXPECT_EQ(summarise_directory(campaign.string(), words)->cells.size(), 6U);
  EXPECT_TRUE(check_simulation_directory(scratch.path() / "nowhere"));
}

}  // namespace
}  // namespace longhaul::results
