#include "agents/command.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "agents/affinity.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::agents {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<WorkloadSpec> catalog() {
  WorkloadSpec spec;
  spec.name = "latency";
  spec.roles = {Role::client, Role::server};
  spec.parameters = {{.name = "size", .kind = Kind::size, .fallback = Value{64}, .min = 1, .max = 4096},
                     {.name = "min_samples", .kind = Kind::count, .fallback = Value{1}},
                     {.name = "verify", .kind = Kind::flag, .fallback = Value{0}},
                     {.name = "congestion_control", .kind = Kind::choice, .needs = Capability::stream}};
  WorkloadSpec alone;
  alone.name = "simulation";
  alone.roles = {Role::local};
  alone.transports = {};
  alone.parameters = {{.name = "policy", .kind = Kind::choice, .punctuation = ":="}};
  WorkloadSpec card = alone;
  card.name = "registration";
  card.transports = {"rdma"};
  return {spec, alone, card};
}

StartRequest client() {
  return {.run_id = "r",
          .role = Role::client,
          .workload = "latency",
          .parameters = {},
          .transport = "rdma",
          .device = "rxe0",
          .bind = "10.0.0.1"};
}

std::string error(const StartRequest& request) {
  const auto command = bench_command("/bench", request, catalog());
  return command ? "" : command.error().message;
}

TEST(BenchCommand, AClientGetsEverything) {
  auto request = client();
  request.parameters = {{"size", Value{1024}}, {"min_samples", Value{5}}, {"verify", Value{1}}};
  const auto command = bench_command("/bench", request, catalog());
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_THAT(*command, ElementsAre("/bench", "latency", "--connect=-", "--transport=rdma", "--bind=10.0.0.1",
                                    "--device=rxe0", "--min-samples=5", "--size=1KiB", "--verify=true"));
}

TEST(BenchCommand, AServerIsToldByItsClient) {
  auto request = client();
  request.role = Role::server;
  request.device = "";
  request.parameters = {{"size", Value{1024}}};
  EXPECT_THAT(*bench_command("/bench", request, catalog()),
              ElementsAre("/bench", "latency", "--listen", "--port=0", "--bind=10.0.0.1"));
}

TEST(BenchCommand, PaddingIsNoArgumentAndHasBounds) {
  auto request = client();
  const auto plain = *bench_command("/bench", request, catalog());
  for (const std::int64_t padding : {0L, 16L, 65536L}) {
    request.padding = padding;
    EXPECT_EQ(*bench_command("/bench", request, catalog()), plain);
  }
  for (const std::int64_t padding : {-1L, 65537L, INT64_MIN, INT64_MAX}) {
    request.padding = padding;
    EXPECT_EQ(error(request), fmt::format("padding {}: expected 0 to 65536 bytes", padding));
  }
}

TEST(BenchCommand, WhatRunsAloneHasNoPeer) {
  StartRequest request{.run_id = "r", .role = Role::local, .workload = "simulation"};
  request.parameters = {{"policy", Value{"mrrc:frequent=0.6"}}};
  EXPECT_THAT(*bench_command("/bench", request, catalog()),
              ElementsAre("/bench", "simulation", "--policy=mrrc:frequent=0.6"));
  request.transport = "rdma";
  EXPECT_THAT(error(request), HasSubstr("workload simulation has no transport"));
  request.transport = "";
  request.device = "rxe0";
  EXPECT_THAT(error(request), HasSubstr("workload simulation has no transport"));
  request.workload = "registration";
  EXPECT_THAT(error(request), HasSubstr("workload registration runs over rdma, not over ''"));
  request.transport = "rdma";
  request.bind = "10.0.0.1";
  EXPECT_THAT(*bench_command("/bench", request, catalog()),
              ElementsAre("/bench", "registration", "--transport=rdma", "--bind=10.0.0.1", "--device=rxe0",
                          "--policy=mrrc:frequent=0.6"));
  request.role = Role::client;
  EXPECT_THAT(error(request), HasSubstr("has no role 'client'"));
}

TEST(BenchCommand, IsTheWhitelist) {
  auto request = client();
  request.workload = "latncy";
  EXPECT_THAT(error(request), HasSubstr("there is no workload 'latncy'; did you mean 'latency'?"));
  request = client();
  request.role = Role::local;
  EXPECT_THAT(error(request), HasSubstr("has no role 'local'"));
  request = client();
  request.parameters = {{"sise", Value{1}}};
  EXPECT_THAT(error(request), HasSubstr("no parameter 'sise'; did you mean 'size'?"));
  request.parameters = {{"size", Value{1 << 20}}};
  EXPECT_THAT(error(request), HasSubstr("size: 1MiB is outside 1B to 4KiB"));
  request.parameters = {{"size", Value{"64"}}};
  EXPECT_THAT(error(request), HasSubstr("size: expected a number"));
  request.parameters = {{"congestion_control", Value{"cubic"}}};
  EXPECT_THAT(error(request), HasSubstr("means nothing over 'rdma', which has no byte stream"));
  request.transport = "tcp";
  EXPECT_EQ(error(request), "");
  request.parameters = {{"congestion_control", Value{"$(reboot)"}}};
  EXPECT_THAT(error(request), HasSubstr("congestion_control: expected letters"));
}

TEST(BenchCommand, KnowsTheRealCatalog) {
  auto request = client();
  request.parameters = {{"size", Value{16384}}, {"completion", Value{"event"}}};
  EXPECT_TRUE(bench_command("/bench", request, workloads::catalog()));
}

TEST(CpuList, ReadsWhatTasksetReads) {
  EXPECT_THAT(*parse_cpu_list("0"), ElementsAre(0));
  EXPECT_THAT(*parse_cpu_list("3,0-1,1"), ElementsAre(0, 1, 3));
  for (const auto* bad : {"", ",", "0,", "a", "1-", "-1", "3-1", "0-99999", "1 ", "0x1"})
    EXPECT_FALSE(parse_cpu_list(bad)) << bad;
}

TEST(ScopedAffinity, GivesTheProcessorsBack) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &before)) ++first;
  {
    const ScopedAffinity confined{{first}};
    cpu_set_t now;
    ASSERT_EQ(::sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_EQ(CPU_COUNT(&now), 1);
  }
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_THROW(ScopedAffinity({1023}), std::system_error);
}

}  // namespace
}  // namespace longhaul::agents
