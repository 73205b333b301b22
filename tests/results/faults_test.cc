#include "results/analyses/faults/faults.hh"

#include <gmock/gmock.h>

#include "tests/results/synthetic.hh"

namespace longhaul::results {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class Explorations : public testing::Test {
 protected:
  // One run: how long it took, the slowest of its samples.
  RunRecord& run(const std::string& forward, const std::string& back, std::int64_t took, double slowest,
                 Status status = Status::ok, const std::string& message = "") {
    RunRecord one;
    one.workload = "latency";
    one.parameters = {{"delay", 5 * synthetic::kMillisecond}, {"engine", "nfqueue"}, {"faults", forward}};
    if (back != forward) one.parameters["faults_back"] = back;
    one.cell_id = "cell " + forward + " " + back;
    one.started = 1'000 * synthetic::kMillisecond;
    one.finished = one.started + took;
    one.status = status;
    one.message = message;
    one.path = PathRecord{};
    one.path->forward.packets = 40;
    one.path->back.packets = 30;
    if (status == Status::ok) {
      auto& client = one.nodes["client"];
      client.role = Role::client;
      Histogram histogram;
      histogram.record(10 * synthetic::kMillisecond);
      histogram.record(static_cast<std::int64_t>(slowest));
      client.metrics["latency"] = {
          .value = 10.0 * synthetic::kMillisecond, .samples = 2, .distribution = to_data(histogram)};
    }
    runs_.push_back(one);
    return runs_.back();
  }
  std::vector<Exploration> all() {
    auto found = explorations(runs_, vocabulary_);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : std::vector<Exploration>{};
  }
  std::vector<RunRecord> runs_;
  Vocabulary vocabulary_ = synthetic::vocabulary();
};

TEST_F(Explorations, SetEachFaultBesideTheRunWithout) {
  run("count", "drop 2", 100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  run("drop 10", "count", 1'100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  run("count", "count", 100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  run("drop 9", "count", 150 * synthetic::kMillisecond, 60.0 * synthetic::kMillisecond);
  const auto found = all();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].workload, "latency");
  EXPECT_EQ(found[0].forward, 40u);
  EXPECT_EQ(found[0].back, 30u);
  EXPECT_EQ(found[0].took, 100 * synthetic::kMillisecond);
  EXPECT_FALSE(found[0].parameters.contains("faults"));
  EXPECT_THAT(found[0].outcomes,
              ElementsAre(Field(&FaultOutcome::forward, "drop 9"), Field(&FaultOutcome::forward, "drop 10"),
                          Field(&FaultOutcome::back, "drop 2")));
  EXPECT_EQ(found[0].outcomes[0].longer, 50 * synthetic::kMillisecond);
  EXPECT_EQ(found[0].outcomes[2].longer, 0);
  const auto text = to_text(found, vocabulary_);
  EXPECT_THAT(text, HasSubstr("without faults: 40 and 30 packets, the run 100 ms, slowest latency 10 ms"));
  EXPECT_THAT(text, HasSubstr("3 runs with faults: 3 ended well"));
  EXPECT_THAT(text, HasSubstr("9  takes 50 ms longer, slowest latency 60 ms"));
  EXPECT_THAT(text, HasSubstr("10  takes 1 s longer\n"));
  EXPECT_THAT(text, HasSubstr("  server to client\n            2  costs nothing"));
}

TEST_F(Explorations, NeighboursThatDidTheSameAreOneLine) {
  run("count", "count", 100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  for (const int n : {1, 2, 3, 5})
    run(fmt::format("drop {}", n), "count", 100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  run("drop 4", "count", 100 * synthetic::kMillisecond, 0, Status::failed, "the connection broke");
  const auto text = to_text(all(), vocabulary_);
  EXPECT_THAT(text, HasSubstr("1-3  costs nothing\n            4  failed: the connection broke\n            5  costs"));
  EXPECT_THAT(text, HasSubstr("5 runs with faults: 4 ended well"));
}

TEST_F(Explorations, PairsComeLastAndWhole) {
  run("count", "count", 100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  run("drop 3", "drop 4", 120 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  run("drop 7, drop 8", "count", 100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  run("drop 9", "count", 100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  const auto found = all();
  ASSERT_THAT(found.at(0).outcomes, SizeIs(3));
  EXPECT_EQ(found[0].outcomes[0].forward, "drop 9");
  const auto text = to_text(found, vocabulary_);
  EXPECT_THAT(text, HasSubstr("drop 3 | drop 4  takes 20 ms longer"));
  EXPECT_THAT(text, HasSubstr("drop 7, drop 8 | count  costs nothing"));
}

TEST_F(Explorations, WithoutARunWithoutFaultsThereIsNothingToCompareWith) {
  run("drop 3", "count", 100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  EXPECT_THAT(all(), SizeIs(0));
  run("count", "count", 100 * synthetic::kMillisecond, 0, Status::failed, "broken");
  EXPECT_THAT(all(), SizeIs(0));
}

TEST_F(Explorations, OfSeveralAttemptsTheLastCounts) {
  run("count", "count", 100 * synthetic::kMillisecond, 10.0 * synthetic::kMillisecond);
  run("drop 3", "count", 100 * synthetic::kMillisecond, 0, Status::failed, "first");
  run("drop 3", "count", 100 * synthetic::kMillisecond, 0, Status::failed, "second").attempt = 1;
  const auto text = to_text(all(), vocabulary_);
  EXPECT_THAT(text, HasSubstr("second"));
  EXPECT_THAT(text, Not(HasSubstr("first")));
  EXPECT_THAT(to_json(all(), vocabulary_), HasSubstr(R"("status":"failed")"));
}

}  // namespace
}  // namespace longhaul::results
