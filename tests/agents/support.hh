// The common part of the agents' tests: a testbed's certificates, one io_context for both ends, a scripted bench.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>

#include "agents/agent.hh"
#include "agents/identity/pki.hh"
#include "agents/protocol/controller.hh"

/// ASSERT in a coroutine.
#define CO_REQUIRE(condition)                      \
  if (!(condition)) {                              \
    ADD_FAILURE() << "required here: " #condition; \
    co_return;                                     \
  } else                                           \
    static_cast<void>(0)

/// The end of the test where a Result is an error.
#define CO_OK(expression)                  \
  if (const auto ok_ = expression; !ok_) { \
    ADD_FAILURE() << ok_.error().message;  \
    co_return;                             \
  } else                                   \
    static_cast<void>(0)

/// The value of a Result, or the end of the test with its error.
#define CO_VALUE(name, expression)                  \
  auto name##_result = expression;                  \
  if (!name##_result) {                             \
    ADD_FAILURE() << name##_result.error().message; \
    co_return;                                      \
  }                                                 \
  [[maybe_unused]] auto& name = *name##_result

namespace longhaul::agents::testing_support {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Directory {
 public:
  Directory() {
    std::string name = (fs::temp_directory_path() / "longhaul-agents-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Directory() { fs::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

inline Credentials credentials(const IssuedFiles& files) {
  return {.ca = files.ca.string(), .cert = files.cert.string(), .key = files.key.string()};
}

/// The workload of bench.sh.
inline std::vector<WorkloadSpec> script_catalog() {
  WorkloadSpec spec;
  spec.name = "script";
  spec.roles = {Role::client, Role::server, Role::local};
  spec.parameters = {{.name = "mode", .kind = Kind::choice}};
  return {spec};
}

/// An agent and controllers on one io_context.
class AgentTest : public ::testing::Test {
 protected:
  AgentTest() : pki_(directory_.path() / "pki") {
    if (!pki_init(pki_)) throw std::runtime_error("no authority");
    options_.host = "127.0.0.1";
    options_.credentials = issue(PeerRole::agent, "node");
    controller_ = issue(PeerRole::controller, "me");
    options_.bench = LONGHAUL_SOURCE_DIR "/tests/agents/bench.sh";
  }
  ~AgentTest() override {
    if (agent_) agent_->close();
    context_.restart();
    context_.run_for(5s);  // lets the processes be reaped
  }

  Credentials issue(PeerRole role, const std::string& name, Validity validity = {}) {
    auto files = pki_issue(pki_, {role, name}, validity);
    if (!files) throw std::runtime_error(files.error().message);
    return credentials(*files);
  }

  void open_agent() {
    auto agent = Agent::open(context_, options_, catalog_);
    ASSERT_TRUE(agent) << agent.error().message;
    agent_ = std::move(*agent);
  }

  Node node() const { return {.name = "node", .host = "127.0.0.1", .port = agent_->port()}; }

  StartRequest script(const std::string& run_id, const std::string& mode) const {
    return {.run_id = run_id,
            .role = Role::local,
            .workload = "script",
            .parameters = {{"mode", Value{mode}}},
            .transport = "tcp"};
  }

  /// Two tokens, as a controller would draw them.
  static inline const std::string kToken = "00112233445566778899aabbccddeeff";
  static inline const std::string kOtherToken = "ffeeddccbbaa99887766554433221100";

  /// Few probes of this node to itself, which are not waited for long.
  static ProbeRequest probes(const std::string& token) {
    return {.local = "127.0.0.1",
            .peer = "127.0.0.1",
            .token = token,
            .count = 3,
            .interval = 1'000'000,
            .timeout = 50'000'000};
  }

  /// All events of a run to its end.
  Awaitable<std::vector<RunEvent>> events(Controller& controller, std::string run_id) {
    std::vector<RunEvent> all;
    for (;;) {
      auto event = co_await controller.next_event(run_id, 20s);
      if (!event) {
        ADD_FAILURE() << event.error().message;
        co_return all;
      }
      all.push_back(*event);
      if (event->exit) co_return all;
    }
  }

  /// Runs a coroutine to its end, both sides' work included.
  template <typename Coroutine>
  void run(Coroutine coroutine, std::chrono::seconds limit = 60s) {
    bool done = false;
    boost::asio::co_spawn(context_, std::move(coroutine), [&](std::exception_ptr error) {
      done = true;
      if (error) std::rethrow_exception(error);
    });
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!done && std::chrono::steady_clock::now() < deadline) {
      context_.restart();
      context_.run_one_for(100ms);
    }
    ASSERT_TRUE(done) << "the test hangs";
  }

  /// Runs until `condition` holds.
  template <typename Condition>
  bool eventually(Condition condition, std::chrono::seconds limit = 20s) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      context_.restart();
      context_.run_one_for(10ms);
    }
    return true;
  }

  Directory directory_;
  fs::path pki_;
  std::vector<WorkloadSpec> catalog_ = script_catalog();
  AgentOptions options_;
  Credentials controller_;
  boost::asio::io_context context_{1};
  std::unique_ptr<Agent> agent_;
};

/// Is there still a process of this number (a zombie is none)?
inline bool process_exists(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const auto at = text.rfind(") ");
  return at != std::string::npos && text[at + 2] != 'Z';
}

}  // namespace longhaul::agents::testing_support
