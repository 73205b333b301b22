// Two hundred agents (fewer where a sanitizer slows them) and one controller of them all: every run comes to its
// record, and neither side needs much memory.
#include <algorithm>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <vector>

#include "common/sanitized.hh"
#include "tests/agents/program.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;

constexpr std::size_t kAgents = kSanitized ? 40 : 200;
constexpr std::int64_t kOwnMemory = 300 * 1024;   // KiB
constexpr std::int64_t kAgentMemory = 40 * 1024;  // KiB, the program's shared libraries included

std::int64_t at_share(std::vector<std::int64_t> values, double share) {
  std::ranges::sort(values);
  return values.at(static_cast<std::size_t>(share * static_cast<double>(values.size() - 1)));
}

class Scale : public Program {
 protected:
  /// Does it for every agent, all at once; returns when all are done.
  template <typename Do>
  void for_all(Do what) {
    std::size_t done = 0;
    for (std::size_t i = 0; i < kAgents; ++i)
      boost::asio::co_spawn(context_, what(i), [&](std::exception_ptr error) {
        ++done;
        EXPECT_FALSE(error);
      });
    ASSERT_TRUE(eventually([&] { return done == kAgents; }, 60s));
  }
};

TEST_F(Scale, TwoHundredAgentsRunBesideEachOther) {
  options_.bench = LONGHAUL_BINARY_DIR "/bin/longhaul-bench";
  std::vector<Started> agents;
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < kAgents; ++i) {
    const auto name = fmt::format("node{}", i);
    agents.push_back(start(arguments_of(name, issue(PeerRole::agent, name)), name));
    nodes.push_back({.name = name, .host = "127.0.0.1", .port = 0});
  }
  for (std::size_t i = 0; i < kAgents; ++i) nodes[i].port = port_of(agents[i]);

  std::vector<std::optional<Controller>> controllers(kAgents);
  for_all([&](std::size_t i) -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(nodes[i], controller_, {.connect_timeout = 60s}));
    controllers[i].emplace(std::move(controller));
  });
  for (const auto& one : controllers) ASSERT_TRUE(one);

  const StartRequest run{.run_id = "r",
                         .role = Role::local,
                         .workload = "simulation",
                         .parameters = {{"requests", Value{100}}, {"objects", Value{10}}}};
  std::size_t records = 0;
  for_all([&](std::size_t i) -> Awaitable<void> {
    CO_OK(co_await controllers[i]->start(run));
    for (;;) {
      CO_VALUE(event, co_await controllers[i]->next_event("r", 60s));
      if (event.exit) break;
      if (event.bench->record) ++records;
    }
  });
  EXPECT_EQ(records, kAgents);

  std::vector<std::int64_t> memory;
  for (const auto& agent : agents) memory.push_back(memory_of(agent.child.pid(), "VmRSS"));
  const auto own = memory_of(::getpid(), "VmHWM");
  fmt::print("  memory: the controller's process {} KiB at most, an agent {} KiB (median), {} KiB (largest)\n", own,
             at_share(memory, 0.5), at_share(memory, 1));
  if (!kSanitized) {
    EXPECT_LT(own, kOwnMemory);
    EXPECT_LT(at_share(memory, 1), kAgentMemory);
  }
  for (auto& agent : agents) agent.child.send_signal(SIGTERM);
  for (auto& agent : agents) EXPECT_TRUE(agent.child.wait(20s));
}

}  // namespace
}  // namespace longhaul::agents
