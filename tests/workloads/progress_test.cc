#include <gmock/gmock.h>

#include "tests/workloads/ends.hh"
#include "workloads/harness/runner.hh"

namespace longhaul::workloads {
namespace {

Attempt<ClientResult> fetch(std::uint16_t port, Parameters parameters) {
  Events events;
  return run_client(towards(port, quick(std::move(parameters))), *find_workload("progress"), *find_runner("progress"),
                    events, -1);
}

TEST(Progress, ALoadedServerAnswersLater) {
  ServerThread server;
  const auto idle = fetch(server.port(), {});
  const auto loaded = fetch(server.port(), {{"load", 5'000'000}});
  ASSERT_TRUE(idle) << idle.error().message;
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(idle->server.metrics.empty());
  const auto& work = loaded->server.metrics.at("load_time");
  const auto& time = loaded->client.metrics.at("fetch");
  EXPECT_GE(time.samples, 10U);
  EXPECT_GE(work.samples, time.samples);
  // Every fetch contains one such computation, and the server counts those of the warm-up, too: the quickest fetch took
  // at least as long as the quickest computation. Not so their medians, where the processor's speed changes between.
  ASSERT_TRUE(time.distribution && work.distribution);
  EXPECT_GE(time.distribution->min, work.distribution->min);
  EXPECT_GT(work.distribution->min, 0);
  EXPECT_EQ(loaded->client.parameters.count("op"), 0U);
}

TEST(Progress, RequestAndMessageDifferInSize) {
  ServerThread server;
  for (const std::int64_t size : {1, 16, 1024, 300'000}) {
    const auto result = fetch(server.port(), {{"size", size}});
    ASSERT_TRUE(result) << result.error().message;
    const auto& counters = result->client.transport->counters;
    const auto fetched = counters.at("tcp_bytes_received");
    const auto asked = counters.at("tcp_bytes_sent");
    EXPECT_NEAR(fetched / asked, static_cast<double>(size) / 16, 0.01 + 0.2 * static_cast<double>(size) / 16) << size;
  }
}

TEST(Progress, PredictsTheRoundTripAndTheLoadThatIsInTheWay) {
  const auto predict = find_workload("progress")->predict;
  const Parameters wan{{"delay", 5'000'000}, {"load", 2'000'000}};
  const auto with = [&](const char* transport, const char* op) {
    auto parameters = wan;
    parameters["transport"] = transport;
    if (*op != 0) parameters["op"] = op;
    return predict(parameters).value_or(0);
  };
  EXPECT_EQ(with("tcp", ""), 12'000'000);
  EXPECT_EQ(with("rdma", "write"), 12'000'000);
  EXPECT_EQ(with("rdma", "read"), 10'000'000);
  EXPECT_EQ(with("rdma", ""), 10'000'000);  // read is the default
}

}  // namespace
}  // namespace longhaul::workloads
