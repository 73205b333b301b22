// Ten thousand strangers of ten kinds against one of a testbed's two agents, as a program of its own. Beside them: how
// long an answer takes, how much memory the agent takes, and how far apart a run begins at the two.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/agents/hostile.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kPeers = kSanitized ? 1'000 : 10'000;
constexpr int kStarts = 20;

class HostilePeers : public Besieged {
 protected:
  HostilePeers() : Besieged(LONGHAUL_BINARY_DIR "/bin/longhaul-bench") {
    quiet_.emplace(start(arguments_of("quiet", issue(PeerRole::agent, "quiet")), "quiet"));
    elsewhere_ = {.name = "quiet", .host = "127.0.0.1", .port = port_of(*quiet_)};
    control_.emplace(elsewhere_, controller_);
    EXPECT_TRUE(eventually([&] { return control_->connected() || !control_->failure().empty(); }));
  }

  /// A run of one at each agent, both asked at once: how far apart their windows open, ms.
  std::vector<double> skews() {
    std::vector<double> all;
    run([&]() -> Awaitable<void> {
      CO_VALUE(here, co_await Controller::connect(there_, controller_));
      CO_VALUE(far, co_await Controller::connect(elsewhere_, controller_));
      for (int i = 0; i < kStarts; ++i) {
        const auto id = fmt::format("r{}", i);
        std::optional<std::int64_t> first;
        boost::asio::co_spawn(context_, opened(here, id),
                              [&](const std::exception_ptr&, std::int64_t at) { first = at; });
        const auto second = co_await opened(far, id);
        boost::asio::steady_timer pause{context_};
        while (!first) {
          pause.expires_after(1ms);
          (void)co_await pause.async_wait(kTuple);
        }
        CO_REQUIRE(*first > 0 && second > 0);
        all.push_back(std::abs(static_cast<double>(*first - second)) / 1e6);
      }
      co_await here.close();
      co_await far.close();
    });
    std::ranges::sort(all);
    return all;
  }

  /// When the window of a run opened, ns; 0: it did not.
  Awaitable<std::int64_t> opened(Controller& controller, std::string id) {
    const StartRequest request{.run_id = id,
                               .role = Role::local,
                               .workload = "simulation",
                               .parameters = {{"requests", Value{100}}, {"objects", Value{10}}}};
    if (const auto ok = co_await controller.start(request); !ok) {
      ADD_FAILURE() << ok.error().message;
      co_return 0;
    }
    std::int64_t at = 0;
    std::string said;
    for (const auto& event : co_await events(controller, id)) {
      if (event.bench && event.bench->kind == BenchEventKind::window_start) at = event.bench->time;
      if (event.bench) said += fmt::format("{}; ", event.bench->message.value_or(""));
      said += event.exit.value_or("");
    }
    if (at == 0) ADD_FAILURE() << id << " opened no window: " << said;
    co_return at;
  }

  std::optional<Started> quiet_;
  Node elsewhere_;
  std::optional<Customer> control_;  ///< of the agent that nobody attacks, on the same machine
};

TEST_F(HostilePeers, TenThousandOfTenKinds) {
  const auto undisturbed = skews();
  ASSERT_EQ(undisturbed.size(), kStarts);

  issue(PeerRole::agent, "other");
  issue(PeerRole::controller, "revoked");
  issue(PeerRole::controller, "late", {.from = std::chrono::system_clock::now() - 48h, .lifetime = 24h});
  ASSERT_TRUE(pki_revoke(pki_, pki_ / "controller-revoked.pem"));
  ASSERT_TRUE(pki_init(pki_ / "other"));
  ASSERT_TRUE(pki_issue(pki_ / "other", {PeerRole::controller, "me"}));

  customer_->begin_anew();
  control_->begin_anew();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnFd input{ends[0]};
  OwnFd hold{ends[1]};
  const auto log = (directory_.path() / "peers.log").string();
  const OwnFd file{::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  // The attacker would have processors of its own; here it gets what the agents and their controllers leave.
  Child peers{{.arguments = {"/usr/bin/nice", "-n", "5", LONGHAUL_BINARY_DIR "/bin/hostile_peers",
                             std::to_string(there_.port), std::to_string(kPeers), pki_.string()},
               .descriptors = {{input.get(), STDIN_FILENO}, {file.get(), STDOUT_FILENO}, {file.get(), STDERR_FILENO}},
               .environment = {},
               .working_directory = {}}};
  const auto disturbed = skews();
  ASSERT_EQ(disturbed.size(), kStarts);
  int admitted = 0;
  const auto began = Clock::now();
  while (text(log).find("all open") == std::string::npos && !peers.poll() && Clock::now() - began < 240s) {
    newcomer();
    ++admitted;
  }
  newcomer();
  hold = OwnFd{};
  const auto ended = peers.wait(20s);
  const auto said = text(log);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 0) << said;
  EXPECT_THAT(said, HasSubstr("all open"));
  const auto middle = kStarts / 2;
  fmt::print("{}  {} newcomers were let in meanwhile\n", said.substr(said.find('\n') + 1), admitted);
  const auto apart = control_->took();
  ASSERT_FALSE(apart.empty());
  // The machine may be busy with something else: so much is asked as the agent beside it has, and what 64 handshakes
  // take.
  EXPECT_LT(customer_->took().back(), 30 + 5 * apart.back());
  fmt::print(
      "  meanwhile the agent that nobody attacks: {} answers, the slowest after {:.1f} ms, the median {:.1f} ms\n",
      apart.size(), apart.back(), apart[apart.size() / 2]);
  fmt::print(
      "  a run begins at two agents {:.1f} ms apart in the median, {:.1f} at most; beside them {:.1f} and {:.1f}\n",
      undisturbed[middle], undisturbed.back(), disturbed[middle], disturbed.back());
}

}  // namespace
}  // namespace longhaul::agents
