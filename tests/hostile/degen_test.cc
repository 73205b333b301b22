// `degen serve` in a network of its own against a client that means harm: an honest client is answered all the time, a
// new one gets in beside a thousand that are idle, and degen's memory stays where it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sanitized.hh"
#include "degen/client/client.hh"
#include "tests/agents/program.hh"
#include "tests/hostile/process.hh"

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;
using longhaul::testing_support::Running;
using ::testing::HasSubstr;

constexpr const char* kNetwork =
    "ip link add lh0 type veth peer name lh1 && exec \"$0\" serve --client-side lh0 --server-side lh1 --run-dir \"$1\"";
constexpr std::int64_t kGrowth = (kSanitized ? 400 : 12) * 1024;  // KiB

class HostileDegenClient : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto run = directory_.path() / "run";
    degen_.emplace(std::vector<std::string>{"/usr/bin/unshare", ::geteuid() == 0 ? "-n" : "-rn", "sh", "-c", kNetwork,
                                            LONGHAUL_BINARY_DIR "/bin/degen", run.string()},
                   directory_.path() / "degen.log");
    socket_ = (run / "degen.sock").string();
    if (!degen_->says("degen serves")) GTEST_SKIP() << "this machine gives no network of its own: " << degen_->said();
  }

  static double show(Client& client) {
    const auto before = std::chrono::steady_clock::now();
    const auto reply = client.request(Request{.kind = RequestKind::show});
    EXPECT_TRUE(reply && reply->ok) << (reply ? reply->error.value_or("") : reply.error().message);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
  }

  agents::testing_support::Directory directory_;
  std::optional<Running> degen_;
  std::string socket_;
};

TEST_F(HostileDegenClient, OthersAreServed) {
  auto honest = Client::connect(socket_);
  ASSERT_TRUE(honest) << honest.error().message;
  show(*honest);
  const auto pid = degen_->child().pid();
  const auto before = agents::testing_support::memory_of(pid, "VmHWM");
  Running hostile{{LONGHAUL_BINARY_DIR "/bin/hostile_degen_client", socket_}, directory_.path() / "hostile.log"};
  std::vector<double> took;
  const auto began = std::chrono::steady_clock::now();
  while (hostile.said().find("all open") == std::string::npos && !hostile.child().poll() &&
         std::chrono::steady_clock::now() - began < 90s) {
    took.push_back(show(*honest));
    std::this_thread::sleep_for(5ms);
  }
  ASSERT_THAT(hostile.said(), HasSubstr("all open"));
  auto newcomer = Client::connect(socket_);
  ASSERT_TRUE(newcomer) << newcomer.error().message;
  show(*newcomer);
  show(*honest);
  hostile.end_input();
  const auto ended = hostile.child().wait(20s);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 0) << hostile.said();
  const auto grown = agents::testing_support::memory_of(pid, "VmHWM") - before;
  EXPECT_LT(grown, kGrowth) << "KiB";
  EXPECT_FALSE(degen_->child().poll()) << degen_->said();
  std::ranges::sort(took);
  fmt::print(
      "{}  {} answers to an honest client, the slowest after {:.1f} ms, the median {:.1f} ms; memory grown by {} KiB\n",
      hostile.said(), took.size(), took.back(), took[took.size() / 2], grown);
  // What a client calls itself is in degen's log.
  EXPECT_EQ(degen_->said().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace longhaul::degen
