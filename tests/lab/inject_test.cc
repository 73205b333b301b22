// longhaul inject as a user runs it: a fault of every kind, at the moments that are worst for it. The whole matrix is
// in docs/reliability.md.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {
namespace {

constexpr const char* kInjected = R"(name: one
workload: latency
series: [{transport: tcp, rival: rxe}]
axes: {size: [1KiB]}
fixed: {delay: 1ms, completion: event}
)";

// What is injected, how the run ends, and what its first failed attempt says.
struct Case {
  const char* injection;
  const char* end;
  const char* says = "";
};
constexpr Case kCases[] = {
    {"kill bench@client at window", "again",
     "client: /usr/bin/longhaul-bench ended without a record: killed by signal 9"},
    {"oom bench@server at window", "again",
     "server: /usr/bin/longhaul-bench ended without a record: killed by signal 9"},
    {"kill agent@server at connect", "again", "agent server at"},
    {"kill degen at window", "again", "degen at /run/degen/degen.sock"},
    {"stop agent@router at survey", "again", "the router lost its impairment during the run"},
    {"partition agent@client at window", "again", "agent client at"},
    {"power-off node@server at window", "again", "agent server at"},
    {"power-off node@router at connect", "again", "agent router at"},
    {"disk-full /run at apply", "resumed", "/run/degen/owned.json: cannot be written: No space left on device"},
    {"clock-step back at window", "counts"},
    {"stop degen at clear", "counts"},
    {"reset machine at window", "ended", "a copy of the sealed lab died"},
    {"reset driver at window", "ended", "a copy of the sealed lab died"},
    {"kill bench@client at apply", "nothing to hit", "no process of bench@client runs at this moment"},
};

TEST(Inject, EveryFaultEndsInARunThatCountsOrInAFailureThatSaysWhy) {
  const TemporaryDirectory directory;
  const auto campaign = directory.path() / "one.yaml";
  write_file(campaign, kInjected);
  std::vector<std::string> command{"inject", campaign, "--json"};
  for (const auto& one : kCases) command.insert(command.end(), {"--only", one.injection});
  const auto injected = longhaul(command);
  ASSERT_EQ(injected.code, 0) << injected.out << injected.err;
  const auto outcomes = boost::json::parse(injected.out).as_array();
  ASSERT_EQ(outcomes.size(), std::size(kCases));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto& outcome = outcomes[i].as_object();
    const auto text = boost::json::serialize(outcome);
    EXPECT_EQ(outcome.at("end").as_string(), kCases[i].end) << text;
    EXPECT_FALSE(outcome.contains("wrong")) << text;
    const auto& messages = outcome.at("messages").as_array();
    const std::string said = messages.empty() ? "" : std::string{messages.front().as_string()};
    EXPECT_NE(said.find(kCases[i].says), std::string::npos) << text;
  }
}

TEST(Inject, WhatWasFoundIsToldWhenItIsInterrupted) {
  const TemporaryDirectory directory;
  const auto campaign = directory.path() / "one.yaml", log = directory.path() / "log";
  write_file(campaign, kInjected);
  auto process = start_longhaul({"inject", campaign, "--fault", "kill"}, log);
  // Of each that is tried it says one line, with its number.
  for (int i = 0; i < 2400 && read_file(log).find("\n2/") == std::string::npos && process.running(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    static_cast<void>(process.poll());
  }
  process.send_signal(SIGINT);
  const auto ended = process.wait(std::chrono::seconds{20});
  ASSERT_TRUE(ended);
  const auto said = read_file(log);
  EXPECT_EQ(ended->code, 130) << said;
  EXPECT_NE(said.find("faults were tried"), std::string::npos) << said;
  EXPECT_NE(said.find("had nothing to hit. What counts"), std::string::npos) << "the table of those: " << said;
}

TEST(Inject, WhatThereIsNotIsRefusedBeforeAnythingBoots) {
  const auto refused = [](std::vector<std::string> words, const char* why) {
    const auto run = longhaul(std::move(words));
    EXPECT_EQ(run.code, 2) << run.out << run.err;
    EXPECT_NE(run.err.find(why), std::string::npos) << run.err;
  };
  refused({"inject", "x.yaml", "--only", "burn degen at window"}, "no fault 'burn'");
  refused({"inject", "x.yaml", "--fault", "partition", "--target", "degen"}, "no fault hits that");
  refused({"inject", "x.yaml", "--fault", "burn"}, "burn");
  refused({"inject"}, "CAMPAIGN is required");
  const auto list = longhaul({"inject", "--list"});
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("disk-full"), std::string::npos) << list.out;
}

}  // namespace
}  // namespace longhaul::testing
