#include <gmock/gmock.h>

#include "tests/workloads/ends.hh"
#include "tests/workloads/fake.hh"
#include "workloads/harness/runner.hh"
#include "workloads/suite/overlap/lanes.hh"
#include "workloads/suite/overlap/ratio.hh"

namespace longhaul::workloads::overlap {
namespace {

using testing::HasSubstr;

Metric timed(double value) {
  return {.value = value, .samples = 10, .distribution = {}, .raw = {}};
}

TEST(OverlapFigures, AreThoseOfThePaperAndOfTheBenchmarks) {
  // 100 of communication, 300 of computation, 20 of the communication not hidden.
  auto metrics = metrics_of(timed(320), timed(100), timed(300));
  EXPECT_DOUBLE_EQ(metrics.at("overlap_ratio").value, 300.0 / 320);
  EXPECT_DOUBLE_EQ(metrics.at("overlap").value, 80);
  EXPECT_DOUBLE_EQ(metrics.at("availability").value, 80);
  EXPECT_EQ(metrics.at("overlap").samples, 10U);
  // Slower together than one after the other: no overlap, but the processor's availability may say so.
  metrics = metrics_of(timed(420), timed(100), timed(300));
  EXPECT_DOUBLE_EQ(metrics.at("overlap").value, 0);
  EXPECT_NEAR(metrics.at("availability").value, -20, 1e-9);
}

TEST(OverlapFigures, AvailabilityNeedsWorkThatDominates) {
  EXPECT_EQ(metrics_of(timed(140), timed(100), timed(50)).count("availability"), 0U);
  EXPECT_EQ(metrics_of(timed(150), timed(100), timed(100)).count("availability"), 1U);
}

// A lane whose operation is over after so many looks.
class Counted final : public Lane {
 public:
  void start() override { ++started; }
  bool advance() override {
    if (fails) throw std::runtime_error("the peer went");
    return ++looks % 3 == 0;
  }
  Waitable& waitable() override { return connection_; }
  int started = 0;
  int looks = 0;
  bool fails = false;

 private:
  FakeConnection connection_{1};
};

TEST(OverlapLane, TakesItsKindsInTurnAndTimesTheComputationInBetween) {
  Counted exchange;
  Computation work{std::chrono::microseconds{500}};
  OverlapLane lane{exchange, work};
  for (int round = 1; round <= 4; ++round) {
    for (const auto kind : {Kind::pure, Kind::total}) {
      lane.start();
      EXPECT_EQ(lane.kind(), static_cast<std::size_t>(kind));
      while (!lane.advance()) {
      }
      lane.inspect();
    }
    EXPECT_EQ(lane.alone().count(), 4U * static_cast<unsigned>(round));  // 2 ms of 500 us
  }
  EXPECT_EQ(exchange.started, 8);
  lane.reset();
  EXPECT_EQ(lane.alone().count(), 0U);
}

TEST(HelpedLane, IsSeenThroughByItsThread) {
  Counted exchange;
  HelpedLane lane{exchange};
  for (int i = 1; i <= 10; ++i) {
    lane.start();
    while (!lane.advance()) {
    }
    EXPECT_EQ(exchange.started, i);
    EXPECT_EQ(exchange.looks, 3 * i);
  }
}

TEST(HelpedLane, PassesOnWhatBroke) {
  Counted exchange;
  exchange.fails = true;
  HelpedLane lane{exchange};
  lane.start();
  const auto wait = [&] {
    while (!lane.advance()) {
    }
  };
  EXPECT_THROW(wait(), std::runtime_error);
}

TEST(HelpedLane, EndsInTheMiddleOfAnExchange) {
  FakeConnection quiet{1};
  class Never final : public Lane {
   public:
    explicit Never(Connection& connection) : connection_(connection) {}
    void start() override {}
    bool advance() override { return false; }
    Waitable& waitable() override { return connection_; }

   private:
    Connection& connection_;
  } exchange{quiet};
  HelpedLane lane{exchange};
  lane.start();
  EXPECT_FALSE(lane.advance());
}

// A run on a machine that changed its speed says so and is repeated, as the orchestrator would.
Attempt<ClientResult> measured(const ClientOptions& options) {
  Events events;
  for (int i = 0;; ++i) {
    auto result = run_client(options, *find_workload("overlap"), *find_runner("overlap"), events, -1);
    if (result || i == 9 || result.error().message.find("changed its speed") == std::string::npos) return result;
  }
}

class OverlapRun : public testing::TestWithParam<const char*> {};

TEST_P(OverlapRun, MeasuresOverLoopback) {
  ServerThread server;
  const auto result = measured(
      towards(server.port(), quick({{"compute", 2'000'000}, {"duration", 60'000'000}, {"progress", GetParam()}})));
  ASSERT_TRUE(result) << result.error().message;
  const auto& metrics = result->client.metrics;
  EXPECT_EQ(result->client.parameters.at("progress"), Value{GetParam()});
  for (const auto* name : {"overlap_ratio", "total", "pure", "compute_time", "overlap"})
    EXPECT_TRUE(metrics.contains(name)) << name;
  EXPECT_GE(metrics.at("total").samples, 10U);
  EXPECT_NEAR(metrics.at("compute_time").value, 2e6, 2e5);
  EXPECT_NEAR(metrics.at("overlap_ratio").value, metrics.at("compute_time").value / metrics.at("total").value, 1e-9);
  EXPECT_GT(metrics.at("overlap_ratio").value, 0);
  EXPECT_LT(metrics.at("overlap_ratio").value, 1.2);
}

INSTANTIATE_TEST_SUITE_P(Progress, OverlapRun, testing::Values("inline", "thread"));

TEST(OverlapRunFaults, AServerThatVanishesIsNoticedByTheHelperToo) {
  auto server = std::make_unique<ServerThread>();
  Watch watch;
  std::thread end{[&] {
    EXPECT_TRUE(watch.saw(BenchEventKind::window_start));
    server->end();
  }};
  const auto result = run_client(towards(server->port(), quick({{"duration", 10'000'000'000}, {"progress", "thread"}})),
                                 *find_workload("overlap"), *find_runner("overlap"), watch.events(), -1);
  end.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status, Status::failed);
}

}  // namespace
}  // namespace longhaul::workloads::overlap
