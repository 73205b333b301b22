#include "results/analyses/compare/records.hh"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "results/store/store.hh"
#include "tests/results/temporary.hh"

namespace longhaul::results {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Doubles of all magnitudes.
RunRecord awkward() {
  RunRecord record;
  record.run_id = "c/0/0";
  record.cell_id = "c";
  record.workload = "latency";
  record.parameters = {{"size", Value{64}}, {"op", Value{"write"}}};
  record.facts = {{"client", "abc"}};
  NodeRecord client;
  client.workload = "latency";
  std::mt19937_64 random{5};
  for (int i = 0; i < 60; ++i) {
    const auto value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 100) - 90);
    client.metrics["m" + std::to_string(i)] = {.value = value, .samples = 1, .distribution = {}, .raw = {i, i + 1}};
  }
  record.nodes["client"] = client;
  return record;
}

TEST(FirstDifference, IsNoneBetweenEquals) {
  EXPECT_EQ(first_difference(awkward(), awkward()), "");
  EXPECT_EQ(first_difference({}, {}), "");
}

TEST(FirstDifference, IsNoneHoweverOftenEitherWasStored) {
  const auto fresh = awkward();
  auto stored = fresh;
  for (int i = 0; i < 3; ++i) {
    stored = *run_record_from_json(to_json(stored));
    EXPECT_EQ(to_json(stored), to_json(fresh));
    EXPECT_EQ(first_difference(stored, fresh), "");
  }
}

TEST(FirstDifference, IsNoneAfterTheStore) {
  const TemporaryDirectory scratch;
  auto store = *Store::open(scratch.path() / "out", OpenMode::create);
  ASSERT_TRUE(store.add_run(awkward()));
  const auto back = store.runs()->at(0);
  EXPECT_EQ(first_difference(awkward(), back), "");
  EXPECT_EQ(first_difference(back, awkward()), "");
}

// Where the difference is, whichever of the two was stored.
std::string found(const RunRecord& other) {
  const auto first = awkward();
  const auto stored = *run_record_from_json(to_json(other));
  EXPECT_EQ(first_difference(first, stored), first_difference(first, other));
  return first_difference(first, other);
}

TEST(FirstDifference, NamesThePathOfAValue) {
  auto other = awkward();
  other.message = "refused";
  EXPECT_EQ(found(other), R"(message: "" and "refused")");
  other = awkward();
  other.nodes["client"].metrics["m7"].samples = 2;
  EXPECT_EQ(found(other), "nodes.client.metrics.m7.samples: 1 and 2");
  other = awkward();
  other.nodes["client"].metrics["m7"].value *= 1.5;
  EXPECT_THAT(found(other), StartsWith("nodes.client.metrics.m7.value: "));
  other = awkward();
  other.parameters["size"] = Value{"64"};
  EXPECT_EQ(found(other), R"(parameters.size: 64 and "64")");
}

TEST(FirstDifference, NamesThePlaceInAnArray) {
  auto other = awkward();
  other.nodes["client"].metrics["m7"].raw[1] = 42;
  EXPECT_EQ(found(other), "nodes.client.metrics.m7.raw[1]: 8 and 42");
  other.nodes["client"].metrics["m7"].raw = {7};
  EXPECT_EQ(found(other), "nodes.client.metrics.m7.raw[1]: 8 and nothing");
  other.nodes["client"].metrics["m7"].raw = {7, 8, 9};
  EXPECT_EQ(found(other), "nodes.client.metrics.m7.raw[2]: nothing and 9");
}

TEST(FirstDifference, NamesWhatOneOfThemHasNot) {
  auto other = awkward();
  other.nodes["client"].metrics.erase("m7");
  EXPECT_THAT(found(other),
              testing::AllOf(StartsWith("nodes.client.metrics.m7: {"), testing::EndsWith(" and nothing")));
  other = awkward();
  other.parameters["delay"] = Value{5};
  EXPECT_EQ(found(other), "parameters.delay: nothing and 5");
}

TEST(FirstDifference, ShortensLongValues) {
  auto other = awkward();
  other.message = std::string(500, 'x');
  EXPECT_LT(found(other).size(), 100U);
  EXPECT_THAT(found(other), HasSubstr("xxx..."));
}

TEST(FirstDifference, LeavesOutWhatTheOrchestratorAdds) {
  auto other = awkward();
  other.facts = {{"client", "another machine"}};
  EXPECT_EQ(found(other), "");
}

TEST(FirstDifference, OfAMillionthOfAMillionthIsFound) {
  auto other = awkward();
  other.nodes["client"].metrics["m7"].value *= 1 + 1e-12;
  EXPECT_THAT(found(other), StartsWith("nodes.client.metrics.m7.value: "));
}

TEST(FirstDifference, OfTheLastBitIsFound) {
  auto other = awkward();
  auto& value = other.nodes["client"].metrics["m7"].value;
  value = std::nextafter(value, 0);
  EXPECT_THAT(found(other), StartsWith("nodes.client.metrics.m7.value: "));
}

}  // namespace
}  // namespace longhaul::results
