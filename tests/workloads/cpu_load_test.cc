#include <gmock/gmock.h>

#include <future>

#include "tests/workloads/ends.hh"
#include "workloads/harness/runner.hh"
#include "workloads/suite/cpu_load/application.hh"

namespace longhaul::workloads::cpu_load {
namespace {

using testing::HasSubstr;

TEST(Application, CountsOnlyStepsWhoseTrafficItKnows) {
  Application application{std::chrono::milliseconds{1}};
  const auto from = observe::raw_time() + std::chrono::milliseconds{30};
  constexpr std::chrono::milliseconds kQuiet{100};
  application.quiet(from, from + kQuiet);
  std::this_thread::sleep_for(std::chrono::milliseconds{160});
  application.stop();
  EXPECT_GT(application.alone().steps, 3 * kStepsOfARun);
  // Whatever the processor's speed: those that it counted lie one behind the other within the span.
  EXPECT_LE(application.alone().taken, kQuiet);
  EXPECT_EQ(application.loaded().steps, 0U);
}

// Two long runs at 1 % of the processor, of which a window sees one and a half: no run need end in it.
TEST(Pace, IsOfAllThatWasDoneNotOfTheRunsThatEnded) {
  const Pace pace{.steps = kStepsOfARun + kStepsOfARun / 2, .taken = std::chrono::milliseconds{900}};
  EXPECT_DOUBLE_EQ(pace.run_time(), 600e6);
  EXPECT_EQ(Pace{}.run_time(), 0);
}

TEST(Application, LostTimeByByte) {
  // A quarter of the processor lost at 8 Gbit/s: 0.25 ns of each ns, 1 B each.
  EXPECT_DOUBLE_EQ(cpu_per_byte(75, 100, 8e9), 0.25);
  EXPECT_EQ(cpu_per_byte(75, 100, 0), 0);
  EXPECT_EQ(cpu_per_byte(75, 0, 8e9), 0);
}

TEST(Frequency, IsCyclesByTheTimeUsed) {
  EXPECT_FALSE(frequency({.process_user = 60, .process_system = 40}));
  EXPECT_FALSE(frequency({.process_cycles = 250}));
  EXPECT_DOUBLE_EQ(*frequency({.process_user = 60, .process_system = 40, .process_cycles = 250}), 2.5);
}

Attempt<ClientResult> load(std::uint16_t port, Parameters parameters, Events&& events = {}) {
  // Beside other work on this machine the application once got nothing of its processor for 150 ms.
  parameters.try_emplace("alone", 500'000'000);
  parameters.try_emplace("work", 3'000'000);
  parameters.try_emplace("duration", 1'000'000'000);
  return run_client(towards(port, quick(std::move(parameters))), *find_workload("cpu_load"), *find_runner("cpu_load"),
                    events, -1);
}

TEST(CpuLoad, TimesTheApplicationWithAndWithoutTraffic) {
  ServerThread server;
  const auto result = load(server.port(), {{"clients", 5}});
  ASSERT_TRUE(result) << result.error().message;
  const auto& metrics = result->server.metrics;
  for (const auto* name : {"slowdown", "run_time", "run_time_alone", "received", "cpu_per_byte"})
    EXPECT_TRUE(metrics.contains(name)) << name;
  EXPECT_GE(metrics.at("run_time").samples, kStepsOfARun / 2);
  EXPECT_GE(metrics.at("run_time_alone").samples, 3 * kStepsOfARun);
  EXPECT_NEAR(metrics.at("slowdown").value, metrics.at("run_time").value / metrics.at("run_time_alone").value, 1e-9);
  EXPECT_GT(metrics.at("received").value, 1e6);
  // Bytes that really arrived: TCP's own count agrees.
  const auto bytes = static_cast<double>(metrics.at("received").samples) * 16384;
  EXPECT_NEAR(bytes / result->server.transport->counters.at("tcp_bytes_received"), 1, 0.5);
}

TEST(CpuLoad, FortyClientsAreTheDefault) {
  ServerThread server;
  const auto result = load(server.port(), {{"size", 1024}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->client.parameters.at("clients"), Value{40});
}

TEST(CpuLoad, ClientsOnTwoNodesAreServedTogether) {
  ServerThread server;
  const Parameters both{{"clients", 6}, {"client_nodes", 2}};
  Watch watch;
  auto first = std::async(std::launch::async, [&] { return load(server.port(), both, std::move(watch.events())); });
  // Whoever comes with other options while the second one is awaited is sent away.
  ASSERT_TRUE(watch.saw(BenchEventKind::ready));
  const auto stranger = load(server.port(), {{"clients", 2}});
  ASSERT_FALSE(stranger);
  EXPECT_THAT(stranger.error().message, HasSubstr("the server awaits 2 clients of a cpu_load with other options"));
  const auto second = load(server.port(), both);
  const auto one = first.get();
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(one->server.metrics.at("received").value, second->server.metrics.at("received").value);
  // What both sent, not what one did: their windows are the same but for the barrier's skew.
  const auto sent = one->client.transport->counters.at("tcp_bytes_sent");
  EXPECT_GT(one->server.transport->counters.at("tcp_bytes_received"), 1.2 * sent);
}

TEST(CpuLoad, ConnectionsThatCannotBeSpreadEvenlyAreRefused) {
  ServerThread server;
  const auto result = load(server.port(), {{"clients", 5}, {"client_nodes", 2}});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("--clients 5 cannot be spread evenly over 2 client nodes"));
}

TEST(CpuLoad, TooFewRunsOfTheApplicationAreSaid) {
  ServerThread server;
  const auto result = load(server.port(), {{"clients", 1}, {"work", 200'000'000}, {"alone", 1'000'000}});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("give a longer --duration"));
}

TEST(CpuLoad, AServerThatVanishesIsNoticed) {
  auto server = std::make_unique<ServerThread>();
  Watch watch;
  std::thread end{[&] {
    EXPECT_TRUE(watch.saw(BenchEventKind::window_start));
    server->end();
  }};
  const auto result = load(server->port(), {{"duration", 10'000'000'000}}, std::move(watch.events()));
  end.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status, Status::failed);
}

}  // namespace
}  // namespace longhaul::workloads::cpu_load
