#include <gmock/gmock.h>

#include "tests/workloads/ends.hh"
#include "workloads/harness/runner.hh"

namespace longhaul::workloads {
namespace {

Attempt<ClientResult> send(std::uint16_t port, Parameters parameters) {
  Events events;
  return run_client(towards(port, quick(std::move(parameters))), *find_workload("packets"), *find_runner("packets"),
                    events, -1);
}

TEST(Packets, AllComeOverLoopbackOnceAndInOrder) {
  ServerThread server;
  const auto result = send(server.port(), {{"interval", 200'000}, {"burst", 8}, {"size", 1000}});
  ASSERT_TRUE(result) << result.error().message;
  const auto& metrics = result->server.metrics;
  const auto sent = result->client.metrics.at("sent").value;
  EXPECT_GE(sent, 8 * 10);
  EXPECT_EQ(std::fmod(sent, 8), 0);
  EXPECT_EQ(metrics.at("variation").samples, static_cast<std::uint64_t>(sent));
  for (const auto* name : {"loss", "duplicates", "reordered"}) EXPECT_EQ(metrics.at(name).value, 0) << name;
  EXPECT_GT(metrics.at("stretch").value, 0);
}

TEST(Packets, IsNothingForRdma) {
  const auto plan = find_runner("packets")->plan(*find_workload("packets"), {}, "rdma", Role::client);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().status, Status::unsupported);
}

}  // namespace
}  // namespace longhaul::workloads
