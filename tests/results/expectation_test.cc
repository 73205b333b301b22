#include <gtest/gtest.h>

#include "degen/impairment/spec.hh"
#include "results/summary/expectation.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::results {
namespace {

const Vocabulary& vocabulary() {
  static const Vocabulary all{.workloads = workloads::catalog(), .impairment = degen::impairment_axes()};
  return all;
}

CellSummary cell(const std::string& workload, Parameters parameters, const std::string& metric, double median) {
  CellSummary one;
  one.workload = workload;
  if (const auto it = parameters.find("delay"); it != parameters.end()) {
    one.forward.asked = one.back.asked = std::get<std::int64_t>(it->second);
    // The path never is exactly what was asked.
    one.forward.achieved = static_cast<double>(one.forward.asked) + 100e3;
    one.back.achieved = static_cast<double>(one.back.asked) + 300e3;
  }
  one.parameters = std::move(parameters);
  one.usable = 6;
  one.metrics = {{.name = metric, .unit = {}, .values = {}, .median = median, .interval = {}, .p99 = {}, .pooled = {}}};
  return one;
}

std::optional<double> expected(const std::vector<CellSummary>& cells) {
  return expected_headline(cells.back(), cells, vocabulary());
}

const std::string kWrite = "write";

TEST(Expectation, ATimeIsThatWithoutDelayAndWhatTheAchievedDelayAdds) {
  EXPECT_DOUBLE_EQ(
      expected({cell("latency", {}, "latency", 80e3), cell("latency", {{"delay", 5'000'000}}, "latency", 0)}).value(),
      80e3 + 5.2e6);
  // Three trips, each the mean of both directions.
  EXPECT_DOUBLE_EQ(expected({cell("rendezvous", {{"protocol", kWrite}}, "transfer", 300e3),
                             cell("rendezvous", {{"protocol", kWrite}, {"delay", 5'000'000}}, "transfer", 0)})
                       .value(),
                   300e3 + 3 * 5.2e6);
}

TEST(Expectation, WhatThePredictionHasWithoutDelayIsNotAddedTwice) {
  const std::string tcp = "tcp";
  const Parameters loaded{{"transport", tcp}, {"load", 2'000'000}};
  auto far = loaded;
  far["delay"] = 5'000'000;
  EXPECT_DOUBLE_EQ(expected({cell("progress", loaded, "fetch", 2.3e6), cell("progress", far, "fetch", 0)}).value(),
                   2.3e6 + 10.4e6);
}

TEST(Expectation, ACeilingOfBitsIsNotExpectedOfATime) {
  auto far = cell("rpc", {{"delay", 5'000'000}}, "operation", 0);
  far.metrics.push_back(cell("rpc", {}, "ceiling", 13e6).metrics.front());
  EXPECT_DOUBLE_EQ(expected({cell("rpc", {}, "operation", 1e6), far}).value(), 1e6 + 2 * 5.2e6);
}

TEST(Expectation, TheTwinIsOfAnotherEngineToo) {
  const std::string nfqueue = "nfqueue";
  EXPECT_TRUE(expected({cell("latency", {}, "latency", 80e3),
                        cell("latency", {{"delay", 5'000'000}, {"engine", nfqueue}}, "latency", 0)}));
}

TEST(Expectation, NothingWithoutATwinADelayOrAPrediction) {
  EXPECT_FALSE(expected(
      {cell("latency", {{"size", 4096}}, "latency", 80e3), cell("latency", {{"delay", 5'000'000}}, "latency", 0)}));
  EXPECT_FALSE(expected({cell("latency", {}, "latency", 80e3)}));
  EXPECT_FALSE(
      expected({cell("cpu_load", {}, "slowdown", 1), cell("cpu_load", {{"delay", 5'000'000}}, "slowdown", 1)}));
  EXPECT_FALSE(expected({cell("unheard_of", {{"delay", 5'000'000}}, "x", 1)}));
}

TEST(Expectation, ARatioIsPredictedByItselfAndAThroughputHasItsCeiling) {
  EXPECT_NEAR(expected({cell("overlap", {{"compute", 1'040'000}, {"delay", 5'000'000}}, "overlap_ratio", 0)}).value(),
              0.1, 1e-9);
  EXPECT_DOUBLE_EQ(expected({cell("throughput", {}, "ceiling", 3e8)}).value(), 3e8);
}

}  // namespace
}  // namespace longhaul::results
