#include "results/analyses/costs/costs.hh"

#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "registration/cache/cost.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Costs : public testing::Test {
 protected:
  Vocabulary vocabulary_{.workloads = workloads::catalog()};
  Summary summary_;

  void add(Parameters parameters, double a, double b) {
    CellSummary cell;
    cell.workload = "registration";
    cell.provider = "rxe";
    cell.soft = true;
    cell.usable = 6;
    cell.parameters = std::move(parameters);
    const auto pages = static_cast<double>(integer_of(cell.parameters, "size", 65536)) / 4096;
    for (const auto* name : {"register", "deregister"}) {
      MetricSummary metric;
      metric.name = name;
      for (int i = 0; i < 6; ++i) metric.values.push_back((a * pages + b) * (1 + 0.01 * i));
      cell.metrics.push_back(metric);
    }
    summary_.cells.push_back(cell);
  }
};

TEST_F(Costs, EachMethodIsFittedByItself) {
  for (const std::int64_t size : {4096, 65536, 1 << 20}) {
    add({{"size", size}}, 770, 7420);
    add({{"size", size}, {"method", std::string{"kernel_fast"}}}, 1, 900);
    add({{"size", size}, {"pages", std::string{"absent"}}}, 2000, 7420);
  }
  const auto costs = fit_costs(summary_, vocabulary_);
  std::vector<std::string> names;
  for (const auto& one : costs) names.push_back(one.name);
  ASSERT_THAT(names, ElementsAre("rxe", "rxe absent", "rxe kernel_fast"));
  EXPECT_EQ(costs[0].sizes, 3U);
  EXPECT_NEAR(costs[0].registering.intercept, 7420 * 1.025, 1);
  EXPECT_NEAR(costs[1].registering.slope, 2000 * 1.025, 1);
  EXPECT_THAT(to_text(costs), HasSubstr("rxe kernel_fast"));
  EXPECT_THAT(to_text(costs), HasSubstr("not of an adapter"));
}

TEST_F(Costs, TheSimulatorTakesTheProfile) {
  add({{"size", std::int64_t{4096}}}, 770, 7420);
  add({{"size", std::int64_t{1} << 20}}, 770, 7420);
  const auto profile = registration::parse_cost_profile(to_profile(fit_costs(summary_, vocabulary_).front()));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->name, "rxe");
  EXPECT_NEAR(profile->registering.per_page, 0.77 * 1.025, 1e-3);
  EXPECT_NEAR(profile->registering.per_call, 7.42 * 1.025, 1e-2);
}

TEST_F(Costs, ALineBelowNothingCostsNothing) {
  add({{"size", std::int64_t{4096}}}, 1000, -500);
  add({{"size", std::int64_t{1} << 20}}, 1000, -500);
  const auto document = boost::json::parse(to_profile(fit_costs(summary_, vocabulary_).front()));
  EXPECT_EQ(document.at("registering").at("per_call").as_double(), 0);
}

TEST_F(Costs, OneSizeIsNoLine) {
  add({{"size", std::int64_t{4096}}}, 770, 7420);
  EXPECT_TRUE(fit_costs(summary_, vocabulary_).empty());
  EXPECT_THAT(to_text(std::vector<FittedCosts>{}), HasSubstr("No cells"));
}

}  // namespace
}  // namespace longhaul::results
