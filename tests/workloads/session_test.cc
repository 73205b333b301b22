// Whole runs over real TCP on the loopback interface.
#include <gmock/gmock.h>

#include <limits>

#include "tests/workloads/ends.hh"

namespace longhaul::workloads {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunTest : public testing::TestWithParam<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>> {};

TEST_P(RunTest, MeasuresAndAccountsAtBothEnds) {
  const auto& [completion, size, clients, verify] = GetParam();
  ServerThread server;
  Events events;
  const auto result = run_latency(
      towards(server.port(),
              quick({{"completion", completion}, {"size", size}, {"clients", clients}, {"verify", verify}})),
      events);
  ASSERT_TRUE(result) << result.error().message;
  const auto& metric = result->client.metrics.at("latency");
  EXPECT_GE(metric.samples, 10U);
  EXPECT_GT(metric.value, 0);
  EXPECT_LT(metric.value, 1e9);
  ASSERT_TRUE(metric.distribution);
  EXPECT_EQ(from_data(*metric.distribution)->count(), metric.samples);
  EXPECT_EQ(metric.raw.size(), std::min<std::size_t>(metric.samples, 2048));
  for (const auto* record : {&result->client, &result->server}) {
    EXPECT_EQ(record->workload, "latency");
    EXPECT_EQ(record->parameters.count("op"), 0U);
    EXPECT_EQ(record->parameters.at("size"), Value{size});
    EXPECT_EQ(record->transport->netdev, "lo");
    EXPECT_GT(record->transport->counters.at("tcp_segments_out"), 0);
    EXPECT_GE(record->window_stop - record->window_start, 20'000'000);
    EXPECT_GT(record->cpu->wall, 0);
    EXPECT_THAT(record->limits, testing::IsEmpty());
  }
  EXPECT_EQ(result->client.role, Role::client);
  EXPECT_EQ(result->server.role, Role::server);
  EXPECT_TRUE(result->server.metrics.empty());
}

INSTANTIATE_TEST_SUITE_P(Loopback, RunTest,
                         testing::Values(std::tuple{"poll", 64, 1, 0}, std::tuple{"event", 64, 1, 0},
                                         std::tuple{"poll", 1, 1, 1}, std::tuple{"event", 100'000, 3, 1},
                                         std::tuple{"poll", 4 << 20, 1, 0}, std::tuple{"event", 1, 16, 0}));

TEST(Opening, IsByAClockThatBothHaveOrThatIsKnown) {
  using namespace std::chrono_literals;
  const observe::RawTime now{1'000'000'000ns};
  ControlMessage told;
  EXPECT_FALSE(opening_of(told, "a", {}, now)) << "to one client it is not told";
  told.time = 1'050'000'000;
  told.boot = "a";
  EXPECT_EQ(opening_of(told, "a", {}, now), now + 50ms);
  EXPECT_FALSE(opening_of(told, "b", {}, now)) << "another machine, of whose clock nothing is known";
  EXPECT_EQ(opening_of(told, "b", PeerClock{.offset = 20ms, .error = 1us}, now), now + 30ms);
  EXPECT_EQ(opening_of(told, "a", PeerClock{.offset = 20ms, .error = 1us}, now), now + 50ms) << "of one clock";
  told.time = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(opening_of(told, "b", PeerClock{.offset = -20ms, .error = 1us}, now), now + 5s) << "whatever a server says";
  told.time = std::numeric_limits<std::int64_t>::min();
  EXPECT_LT(opening_of(told, "b", PeerClock{.offset = 20ms, .error = 1us}, now), now);
  told.boot.reset();
  EXPECT_FALSE(opening_of(told, "", {}, now));
}

TEST(Run, OneServerServesOneClientAfterAnother) {
  ServerThread server;
  Events events;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(run_latency(towards(server.port(), quick()), events));
  server.end();
  EXPECT_EQ(server.results.size(), 3U);
  for (const auto& served : server.results) EXPECT_TRUE(served);
}

TEST(Run, WindowStaysOpenForTheLeastSamples) {
  ServerThread server;
  Events events;
  const auto result =
      run_latency(towards(server.port(), quick({{"duration", 1'000'000}, {"min_samples", 500}})), events);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GE(result->client.metrics.at("latency").samples, 500U);
}

TEST(Run, EventsTellTheSupervisor) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  const OwnFd reader{fds[0]};
  {
    ServerThread server;
    Events events{OwnFd{fds[1]}};
    ASSERT_TRUE(run_latency(towards(server.port(), quick({{"min_samples", 10}})), events));
  }
  const auto events = read_events(reader.get());
  std::vector<BenchEventKind> kinds;
  std::int64_t last = 0;
  for (const auto& event : events) {
    EXPECT_GE(event.time, last);
    last = event.time;
    if (event.kind != BenchEventKind::progress) kinds.push_back(event.kind);
  }
  EXPECT_THAT(kinds, ElementsAre(BenchEventKind::ready, BenchEventKind::window_start, BenchEventKind::window_stop,
                                 BenchEventKind::record));
  ASSERT_TRUE(events.back().record);
  EXPECT_GT(events.back().record->metrics.at("latency").samples, 0U);
}

TEST(Run, WhatTcpDoesNotHaveIsUnsupported) {
  Events events;
  for (const auto* op : {"read", "send", "write_imm"}) {
    const auto refused = run_latency(towards(9, quick({{"op", op}})), events);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::unsupported) << op;
    EXPECT_THAT(refused.error().message, HasSubstr("--op"));
  }
}

TEST(Run, ADeviceThatIsNotThereIsNamedAndOthersListed) {
  Events events;
  auto options = towards(9, quick(), "rdma");
  options.device = "mlx5_77";
  const auto refused = run_latency(options, events);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, Status::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("mlx5_77"));
  EXPECT_THAT(refused.error().message, testing::AnyOf(HasSubstr("there are"), HasSubstr("no RDMA device")));
}

TEST(Run, BindAndDeviceMustAgree) {
  Events events;
  auto options = towards(9, quick());
  options.bind = "127.0.0.1";
  options.device = "eth77";
  auto refused = run_latency(options, events);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exit_code, ExitCode::usage);
  options.bind = "203.0.113.7";
  refused = run_latency(options, events);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("not an address of this machine"));
}

}  // namespace
}  // namespace longhaul::workloads
