#include "results/summary/processor.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/claims/processors.hh"
#include "results/report/report.hh"
#include "tests/results/synthetic.hh"

namespace longhaul::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

NodeRecord node(Role role, CpuUse use) {
  NodeRecord record{.workload = "w", .role = role};
  record.cpu = use;
  return record;
}

CpuUse busy(std::int64_t user_ms, std::int64_t softirq_ms) {
  return {.wall = 500 * synthetic::kMillisecond,
          .node_user = user_ms * synthetic::kMillisecond,
          .node_softirq = softirq_ms * synthetic::kMillisecond,
          .node_idle = 7 * synthetic::kMillisecond,
          .process_user = user_ms * synthetic::kMillisecond};
}

WorkloadSpec workload(const char* unit) {
  WorkloadSpec spec;
  spec.name = "w";
  spec.metrics = {{.name = "m", .unit = unit}};
  return spec;
}

TEST(Cpu, IsInPerCentOfOneProcessor) {
  RunRecord run;
  run.nodes["c"] = node(Role::client, {.wall = 1000 * synthetic::kMillisecond,
                                       .node_user = 900 * synthetic::kMillisecond,
                                       .node_nice = 100 * synthetic::kMillisecond,
                                       .node_system = 300 * synthetic::kMillisecond,
                                       .node_irq = 20 * synthetic::kMillisecond,
                                       .node_softirq = 80 * synthetic::kMillisecond,
                                       .node_steal = 500 * synthetic::kMillisecond,
                                       .node_idle = 500 * synthetic::kMillisecond,
                                       .process_user = 700 * synthetic::kMillisecond,
                                       .process_system = 50 * synthetic::kMillisecond,
                                       .process_polling = 600 * synthetic::kMillisecond});
  EXPECT_THAT(run_cpu(run, nullptr),
              UnorderedElementsAre(Pair("client_cpu", 140), Pair("client_cpu_user", 100), Pair("client_cpu_system", 30),
                                   Pair("client_cpu_irq", 2), Pair("client_cpu_softirq", 8),
                                   Pair("client_process_cpu", 75), Pair("client_process_polling", 60)));
}

TEST(Cpu, EndsAreToldApartAndSeveralClientsAddUp) {
  RunRecord run;
  run.nodes["c1"] = node(Role::client, busy(250, 0));
  run.nodes["c2"] = node(Role::client, busy(125, 125));
  run.nodes["s"] = node(Role::server, busy(50, 50));
  const auto figures = run_cpu(run, nullptr);
  EXPECT_EQ(figures.at("client_cpu"), 100);
  EXPECT_EQ(figures.at("client_cpu_softirq"), 25);
  EXPECT_EQ(figures.at("server_cpu"), 20);
  EXPECT_FALSE(figures.contains("local_cpu"));
}

TEST(Cpu, WhatNoRecordTellsIsNotThere) {
  RunRecord run;
  EXPECT_THAT(run_cpu(run, nullptr), IsEmpty());
  run.nodes["c"] = NodeRecord{.workload = "w"};
  run.nodes["s"] = node(Role::server, CpuUse{});  // a window that never opened
  EXPECT_THAT(run_cpu(run, nullptr), IsEmpty());
}

TEST(Cpu, ByOperationWhereTheHeadlineIsATime) {
  RunRecord run;
  run.nodes["c"] = node(Role::client, busy(400, 100));
  run.nodes["s"] = node(Role::server, busy(100, 0));
  run.nodes["c"].metrics["m"] = {.value = 10, .samples = 1000};
  run.nodes["s"].metrics["m"] = {.value = 10, .samples = 7};  // the client's counts
  const auto spec = workload("ns");
  const auto figures = run_cpu(run, &spec);
  EXPECT_EQ(figures.at("client_cpu_per_op"), 500'000);
  EXPECT_EQ(figures.at("server_cpu_per_op"), 100'000);
  EXPECT_FALSE(figures.contains("client_cpu_per_byte"));
  run.nodes["c"].metrics["m"].samples = 0;
  run.nodes["s"].metrics.clear();
  EXPECT_FALSE(run_cpu(run, &spec).contains("client_cpu_per_op"));
}

TEST(Cpu, ByByteWhereItIsARateOfBits) {
  RunRecord run;
  run.nodes["c"] = node(Role::client, busy(250, 0));
  run.nodes["s"] = node(Role::server, busy(400, 100));
  run.nodes["s"].metrics["m"] = {.value = 8e9, .samples = 1};  // 1 ns a byte
  const auto spec = workload("bit/s");
  const auto figures = run_cpu(run, &spec);
  EXPECT_DOUBLE_EQ(figures.at("client_cpu_per_byte"), 0.5);
  EXPECT_DOUBLE_EQ(figures.at("server_cpu_per_byte"), 1);
  EXPECT_FALSE(figures.contains("server_cpu_per_op"));
  const auto other = workload("1");
  EXPECT_FALSE(run_cpu(run, &other).contains("server_cpu_per_byte"));
}

TEST(Cpu, OverRunsLikeAnyOtherMetric) {
  const auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  const auto summary = *summarise(campaign.manifest, campaign.runs, campaign.facts, synthetic::vocabulary());
  const auto& cell = summary.cells[0];
  EXPECT_EQ(cell.metrics.size(), 1U);
  ASSERT_EQ(cell.cpu.size(), 14U);
  EXPECT_EQ(cell.cpu[0].name, "client_cpu");
  EXPECT_EQ(cell.cpu[7].name, "server_cpu");
  const auto* softirq = cell.metric("server_cpu_softirq");
  EXPECT_THAT(softirq->values, ElementsAre(5, 5.1, 5.2, 5.3, 5.4, 5.5));
  EXPECT_DOUBLE_EQ(softirq->median, 5.25);
  EXPECT_EQ(softirq->interval->low, 5);
  EXPECT_EQ(softirq->interval->high, 5.5);
  EXPECT_EQ(softirq->samples, 6U);
  EXPECT_FALSE(softirq->p99);
  EXPECT_EQ(cell.metric("client_cpu")->interval->low, cell.metric("client_cpu")->interval->high);
}

TEST(Cpu, OfARunThatWasRefusedDoesNotCount) {
  auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  for (auto& run : campaign.runs)
    if (run.repetition == 0) {
      run.status = Status::refused;
      for (auto& [name, record] : run.nodes) record.cpu->node_softirq = 1;
    }
  const auto summary = *summarise(campaign.manifest, campaign.runs, campaign.facts, synthetic::vocabulary());
  EXPECT_THAT(summary.cells[0].metric("server_cpu_softirq")->values, ElementsAre(5.1, 5.2, 5.3, 5.4, 5.5));
}

TEST(Processors, OfAVerdictsCellsBySide) {
  CellSummary rdma, tcp;
  rdma.transport = "rdma";
  tcp.transport = "tcp";
  const auto give = [](CellSummary& cell, const char* name, double median) {
    MetricSummary metric;
    metric.name = name;
    metric.median = median;
    cell.cpu.push_back(metric);
  };
  auto other = rdma;
  give(rdma, "client_cpu", 99.7);
  give(other, "client_cpu", 62);
  give(rdma, "server_cpu", 40);
  give(tcp, "client_cpu", 120);
  give(rdma, "client_process_polling", 41);
  give(other, "client_process_polling", 30.2);
  const std::vector<Match> matches{{.cell = &rdma, .rival = &tcp}, {.cell = &other, .rival = &tcp}};
  EXPECT_EQ(spelt(processors_of(matches)),
            "processors busy: RDMA client 62 to 100 % (polling 30 to 41 %), RDMA server 40 %, sockets client 120 %");
  CellSummary alone;
  give(alone, "local_cpu", 50);
  EXPECT_EQ(spelt(processors_of({{.cell = &alone}})), "processors busy: node 50 %");
  EXPECT_EQ(spelt(processors_of({})), "");
}

TEST(Processors, AreInClaimsFile) {
  const auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  const auto summary = *summarise(campaign.manifest, campaign.runs, campaign.facts, synthetic::vocabulary());
  EXPECT_THAT(claims_of(analyse(summary, synthetic::vocabulary())),
              HasSubstr(R"("processors":[{"who":"RDMA client","low":9.5E1,"high":9.5E1})"));
}

}  // namespace
}  // namespace longhaul::results
