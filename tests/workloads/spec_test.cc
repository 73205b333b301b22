#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "tests/some.hh"
#include "workloads/harness/runner.hh"
#include "workloads/suite/catalog.hh"
#include "workloads/suite/runners.hh"

namespace longhaul::workloads {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const WorkloadSpec& latency() {
  return *find_workload("latency");
}

Attempt<ConnectionPlan> plan(Parameters given, std::string_view transport) {
  return find_runner("latency")->plan(latency(), *complete(latency(), given), transport, Role::client);
}

TEST(Catalog, EveryWorkloadHasARunnerAndAHeadline) {
  ASSERT_EQ(runners().size(), catalog().size());
  for (const auto& spec : some(catalog())) {
    const auto* runner = find_runner(spec.name);
    ASSERT_NE(runner, nullptr) << spec.name;
    EXPECT_EQ(is_local(spec), static_cast<bool>(runner->local)) << spec.name;
    EXPECT_EQ(!is_local(spec), runner->plan && runner->client && runner->server) << spec.name;
    EXPECT_FALSE(spec.metrics.empty()) << spec.name;
    EXPECT_FALSE(spec.summary.empty()) << spec.name;
  }
  EXPECT_EQ(find_workload("no such"), nullptr);
}

TEST(Catalog, DefaultsAreWithinTheirOwnRange) {
  for (const auto& spec : some(catalog())) {
    for (const auto& parameter : spec.parameters) {
      EXPECT_TRUE(!parameter.fallback || check_value(parameter, *parameter.fallback))
          << spec.name << " " << parameter.name;
    }
  }
}

// Cell identity hangs on them: this list may grow, but no value of it may ever change.
TEST(LatencySpec, DefaultsNeverChange) {
  const auto all = complete(latency(), {});
  ASSERT_TRUE(all);
  const Parameters released{{"size", 64},
                            {"op", "write"},
                            {"completion", "poll"},
                            {"duration", 1'000'000'000},
                            {"warmup", 100'000'000},
                            {"min_samples", 10},
                            {"clients", 1},
                            {"verify", 0},
                            {"timeout", 10'000'000'000}};
  for (const auto& [name, value] : released) EXPECT_EQ(all->at(name), value) << name;
}

TEST(LatencySpec, NeedsFollowTheOperation) {
  const auto needs = [](Parameters p) { return latency().needs(p); };
  EXPECT_THAT(needs({{"transport", "rdma"}}), ElementsAre(Capability::write));
  EXPECT_THAT(needs({{"transport", "tcp"}}), ElementsAre(Capability::stream));
  EXPECT_THAT(needs({{"transport", "tcp"}, {"completion", "event"}}),
              ElementsAre(Capability::stream, Capability::event_completion));
  EXPECT_THAT(needs({{"op", "write_imm"}}), ElementsAre(Capability::write_with_immediate));
  EXPECT_THAT(needs({{"op", "write_send"}}), ElementsAre(Capability::write, Capability::send_receive));
  EXPECT_THAT(needs({{"op", "read"}, {"transport", "tcp"}}), ElementsAre(Capability::read));
}

TEST(LatencySpec, TheoryIsThePath) {
  EXPECT_EQ(latency().predict({}), std::nullopt);
  EXPECT_DOUBLE_EQ(*latency().predict({{"delay", 5'000'000}}), 5e6);
  EXPECT_DOUBLE_EQ(*latency().predict({{"delay", 5'000'000}, {"delay_back", 1'000'000}}), 3e6);
  EXPECT_DOUBLE_EQ(*latency().predict({{"delay", 5'000'000}, {"op", "read"}}), 10e6);
}

TEST(LatencyPlan, ReceivesOnlyWhereMessagesCompleteAtTheTarget) {
  EXPECT_EQ(plan({{"op", "write"}}, "rdma")->receives, 0U);
  EXPECT_EQ(plan({{"op", "read"}}, "rdma")->receives, 0U);
  for (const auto* op : {"send", "write_imm", "write_send"}) EXPECT_GT(plan({{"op", op}}, "rdma")->receives, 1U) << op;
  EXPECT_GT(plan({}, "tcp")->receives, 0U);
}

TEST(LatencyPlan, MessagesDoNotOverlap) {
  for (const std::int64_t size : {1, 64, 4096, 4097, 4 << 20}) {
    const auto made = plan({{"size", size}, {"op", "send"}}, "rdma");
    EXPECT_GE(made->receive_offset, static_cast<std::size_t>(size));
    EXPECT_GE(made->memory, made->receive_offset + static_cast<std::size_t>(size));
  }
}

TEST(LatencyPlan, APlainWriteCannotWakeItsTarget) {
  const auto refused = plan({{"completion", "event"}}, "rdma");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, Status::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("write_imm"));
  EXPECT_TRUE(plan({{"completion", "event"}, {"op", "send"}}, "rdma"));
  EXPECT_TRUE(plan({{"completion", "event"}}, "tcp"));
}

TEST(LatencyPlan, WhatMeansNothingOnATransportIsNotRecorded) {
  EXPECT_THAT(plan({}, "tcp")->unused, ElementsAre("op"));
  EXPECT_THAT(plan({}, "rdma")->unused, ElementsAre("congestion_control"));
}

TEST(Complete, RefusesStrangersAndBadValues) {
  EXPECT_THAT(complete(latency(), {{"sise", 1}}).error().message, HasSubstr("sise"));
  EXPECT_THAT(complete(latency(), {{"size", 0}}).error().message, HasSubstr("size"));
  EXPECT_THAT(complete(latency(), {{"op", "wrote"}}).error().message, HasSubstr("did you mean 'write'"));
  EXPECT_FALSE(complete(latency(), {{"clients", "many"}}));
}

TEST(Catalog, EveryWorkloadHasAPageThatNamesItsParametersAndMetrics) {
  for (const auto& spec : some(catalog())) {
    const auto page = std::string{LONGHAUL_SOURCE_DIR} + "/docs/workloads/" + spec.name + ".md";
    std::ifstream in{page};
    ASSERT_TRUE(in) << page << " is missing";
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    // As a word by itself: `at_key_came` does not speak of `at_key`.
    const auto names = [&](const std::string& word) {
      return std::regex_search(text, std::regex{"(^|[^A-Za-z0-9_])" + word + "([^A-Za-z0-9_]|$)"});
    };
    for (const auto& parameter : spec.parameters) EXPECT_TRUE(names(parameter.name)) << page << ": " << parameter.name;
    for (const auto& metric : spec.metrics) EXPECT_TRUE(names(metric.name)) << page << ": " << metric.name;
  }
}

}  // namespace
}  // namespace longhaul::workloads
