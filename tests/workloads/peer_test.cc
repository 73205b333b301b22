#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <stdexcept>

#include "common/error.hh"
#include "common/fd.hh"
#include "tests/workloads/ends.hh"
#include "workloads/harness/runner.hh"
#include "workloads/protocols/peer.hh"

namespace longhaul::workloads::peer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

PeerRun run_of(const std::string& op) {
  return {.op = op,
          .device = "rxe0",
          .iwarp = false,
          .local = "10.0.0.1",
          .server = "10.0.0.2",
          .port = 7471,
          .size = 65536,
          .streams = 2,
          .depth = 0,
          .duration = std::chrono::milliseconds{1500},
          .messages = 500};
}

TEST(Peer, TcpIsIperf3s) {
  EXPECT_THAT(peer_server(run_of("stream")), ElementsAre("iperf3", "-s", "-1", "-B", "10.0.0.2", "-p", "7471"));
  EXPECT_THAT(peer_client(run_of("stream")), ElementsAre("iperf3", "-c", "10.0.0.2", "-B", "10.0.0.1", "-p", "7471",
                                                         "-l", "65536", "-P", "2", "-t", "2", "--json"));
}

TEST(Peer, RdmaIsPerftests) {
  auto run = run_of("read");
  EXPECT_EQ(peer_client(run).front(), "ib_read_bw");
  EXPECT_EQ(peer_client(run).back(), "10.0.0.2");
  EXPECT_THAT(peer_client(run), Not(Contains("-R")));
  EXPECT_THAT(peer_client(run), Not(Contains("-t")));
  run.iwarp = true;
  run.depth = 64;
  EXPECT_THAT(peer_server(run), Contains("-R"));
  EXPECT_THAT(peer_server(run), Contains("-t"));
  EXPECT_THAT(peer_server(run), Not(Contains("10.0.0.2")));
}

TEST(Peer, LatencyOverRdmaIsPerftests) {
  auto run = run_of("send");
  run.measure = Measure::latency;
  EXPECT_THAT(peer_client(run),
              ElementsAre("ib_send_lat", "-F", "-d", "rxe0", "-p", "7471", "-s", "65536", "-n", "500", "10.0.0.2"));
  run.sleeping = true;
  EXPECT_EQ(peer_server(run).back(), "-e");
  const std::string table =
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% "
      "percentile[usec]   99.9% percentile[usec] \n"
      " 1024    500          42.10          61.00        43.02              43.35            1.0            48.10      "
      " "
      "     61.00\n";
  EXPECT_DOUBLE_EQ(*read_perftest_latency(table, 1024), 43'020);
  EXPECT_FALSE(read_perftest_latency(table, 64));
}

TEST(Peer, LatencyOverTcpIsQperfs) {
  auto run = run_of("stream");
  run.measure = Measure::latency;
  EXPECT_THAT(peer_server(run), ElementsAre("qperf", "-lp", "7471"));
  EXPECT_THAT(peer_client(run),
              ElementsAre("qperf", "-lp", "7471", "-m", "65536", "-t", "2", "-vvu", "10.0.0.2", "tcp_lat"));
  EXPECT_DOUBLE_EQ(*read_qperf("tcp_lat:\n    latency   =  66.5 us\n    msg_size  =  1,024 bytes\n"), 66'500);
  EXPECT_DOUBLE_EQ(*read_qperf("tcp_lat:\n    latency   =  66,512 ns\n"), 66'512);
  EXPECT_THAT(read_qperf("failed to connect").error().message, HasSubstr("failed to connect"));
  EXPECT_FALSE(read_qperf("tcp_lat: latency = some us"));
}

TEST(Peer, QperfRunsInPlaceOfOurMessages) {
  ServerThread server;
  Events events;
  const auto result = run_client(
      towards(
          server.port(),
          quick({{"tool", std::string{"peer"}}, {"completion", std::string{"event"}}, {"timeout", 20'000'000'000}})),
      *find_workload("latency"), *find_runner("latency"), events, -1);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->client.metrics.at("latency").value, 1e3);
  EXPECT_LT(result->client.metrics.at("latency").value, 1e7);
}

TEST(Peer, WhatTheToolsCannotIsSaid) {
  const auto plan = [](Parameters parameters, const char* transport) {
    parameters["tool"] = std::string{"peer"};
    return find_runner("latency")->plan(*find_workload("latency"), parameters, transport, Role::client);
  };
  for (const auto& made : {plan({{"op", std::string{"write_imm"}}}, "rdma"), plan({{"clients", 4}}, "rdma"),
                           plan({}, "tcp"), plan({{"completion", std::string{"event"}}}, "rdma")}) {
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().status, Status::unsupported);
    EXPECT_THAT(made.error().message, HasSubstr("tool peer"));
  }
  EXPECT_TRUE(plan({{"completion", std::string{"event"}}, {"op", std::string{"send"}}}, "rdma"));
}

TEST(Peer, Iperf3sJsonIsRead) {
  EXPECT_DOUBLE_EQ(*read_iperf3(R"({"end":{"sum_received":{"bits_per_second":2.5e8}}})"), 2.5e8);
  EXPECT_THAT(read_iperf3(R"({"error":"unable to connect to server: Connection refused"})").error().message,
              HasSubstr("unable to connect"));
  EXPECT_FALSE(read_iperf3(R"({"end":{}})"));
  EXPECT_FALSE(read_iperf3("iperf3: command not found"));
  for (const auto* rate : {"1e999", "-5"})
    EXPECT_THAT(
        read_iperf3(fmt::format(R"({{"end":{{"sum_received":{{"bits_per_second":{}}}}}}})", rate)).error().message,
        HasSubstr("cannot have been measured"));
}

TEST(Peer, PerftestsTableIsRead) {
  const std::string table =
      " Dual-port       : OFF\n"
      " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
      " 65536      500            17.43              11.85                0.000189\n"
      "---------------------------------------------------------------------------------------\n";
  EXPECT_DOUBLE_EQ(*read_perftest(table, 65536), 11.85 * 8 * 1048576);
  EXPECT_FALSE(read_perftest(table, 4096));
  EXPECT_THAT(read_perftest("Couldn't connect to 10.0.0.2:7471", 65536).error().message, HasSubstr("Couldn't connect"));
}

// Whether nobody has this port, or the port that is kept while the result lives.
OwnFd taken(std::uint16_t port) {
  OwnFd fd{check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "create a socket")};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

// The tool has the port behind the server's, which another program may have: then the server takes another one.
std::unique_ptr<ServerThread> server_with_a_free_port_behind() {
  for (int i = 0; i < 100; ++i)
    if (auto server = std::make_unique<ServerThread>(); taken(static_cast<std::uint16_t>(server->port() + 1)))
      return server;
  throw std::runtime_error("no two ports in a row are free");
}

TEST(Peer, AServersToolThatCannotStartSaysWhy) {
  const auto server = server_with_a_free_port_behind();
  const auto other = taken(static_cast<std::uint16_t>(server->port() + 1));
  ASSERT_TRUE(other);
  Events events;
  const auto result =
      run_client(towards(server->port(), quick({{"tool", std::string{"peer"}}, {"timeout", 20'000'000'000}})),
                 *find_workload("throughput"), *find_runner("throughput"), events, -1);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr(fmt::format("iperf3 of the server, port {}", server->port() + 1)));
  EXPECT_THAT(result.error().message, HasSubstr("Address already in use"));
}

TEST(Peer, Iperf3RunsInPlaceOfOurStreams) {
  const auto server = server_with_a_free_port_behind();
  Events events;
  const auto result =
      run_client(towards(server->port(), quick({{"tool", std::string{"peer"}}, {"timeout", 20'000'000'000}})),
                 *find_workload("throughput"), *find_runner("throughput"), events, -1);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->client.metrics.at("throughput").value, 1e6);
  EXPECT_FALSE(result->client.metrics.contains("ceiling"));
  // Whole seconds, whatever the window.
  EXPECT_GE(result->client.window_stop - result->client.window_start, 900'000'000);
}

TEST(Peer, SendHasNone) {
  const auto plan = find_runner("throughput")
                        ->plan(*find_workload("throughput"),
                               {{"tool", std::string{"peer"}}, {"op", std::string{"send"}}}, "rdma", Role::client);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().status, Status::unsupported);
}

}  // namespace
}  // namespace longhaul::workloads::peer
