// `longhaul run` and `longhaul doctor` against an agent that means harm: they end by themselves, name it, take little
// memory, and nothing of what it says moves a cursor.
#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "agents/identity/pki.hh"
#include "common/sanitized.hh"
#include "tests/agents/program.hh"
#include "tests/hostile/process.hh"

namespace longhaul::agents {
namespace {

using namespace std::chrono_literals;
using longhaul::testing_support::Running;
using ::testing::HasSubstr;
using testing_support::Directory;
using testing_support::memory_of;

constexpr const char* kLonghaul = LONGHAUL_BINARY_DIR "/bin/longhaul";
constexpr auto kPatience = 240s;
constexpr std::int64_t kMemory = 256 * 1024;  // KiB; an honest run takes 24 MiB, and a message may have 16 MiB

/// Of an agent's words no byte may come through that is none of a line's.
bool is_plain(const std::string& text) {
  return std::ranges::none_of(text, [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f; });
}

struct Kind {
  const char* name;
  bool greets;  ///< means harm after its hello only
  bool passes;  ///< a run with it can come about
};
constexpr std::array kKinds{
    Kind{"clear", false, false},     Kind{"mute", false, false},     Kind{"dribble", false, false},
    Kind{"gigabyte", false, false},  Kind{"deep", false, false},     Kind{"wide", false, false},
    Kind{"version", false, false},   Kind{"namesake", true, true},   Kind{"refuses", false, false},
    Kind{"boasts", true, true},      Kind{"strangers", true, false}, Kind{"flood", true, false},
    Kind{"impossible", true, false}, Kind{"twins", true, true},      Kind{"vanishes", true, false}};

/// A testbed of two, whose client is hostile.
class Testbed {
 public:
  explicit Testbed(const Kind& kind) : kind_(kind) {
    const auto pki = directory_.path() / "pki";
    EXPECT_TRUE(pki_init(pki));
    EXPECT_TRUE(pki_issue(pki, {PeerRole::controller, "me"}));
    for (const auto* name : {"client", "server"}) EXPECT_TRUE(pki_issue(pki, {PeerRole::agent, name}));
    const auto stem = (pki / "agent-server").string();
    hostile_.emplace(std::vector<std::string>{LONGHAUL_BINARY_DIR "/bin/hostile_agent", kind.name, pki, "client"},
                     directory_.path() / "hostile.log");
    honest_.emplace(
        std::vector<std::string>{testing_support::kProgram, "--node", "server", "--listen", "127.0.0.1:0", "--ca",
                                 (pki / "ca.pem").string(), "--cert", stem + ".pem", "--key", stem + ".key"},
        directory_.path() / "honest.log");
    std::ofstream(directory_.path() / "testbed.yml") << fmt::format(
        "all:\n"
        "  vars: {{longhaul_topology: compact, longhaul_ca: pki/ca.pem, longhaul_cert: pki/controller-me.pem, "
        "longhaul_key: pki/controller-me.key}}\n"
        "  children:\n"
        "    clients: {{hosts: {{client: {{ansible_host: 127.0.0.1, longhaul_port: {}, longhaul_attachments: []}}}}}}\n"
        "    servers: {{hosts: {{server: {{ansible_host: 127.0.0.1, longhaul_port: {}, longhaul_attachments: "
        "[]}}}}}}\n",
        port_of(*hostile_), port_of(*honest_));
    std::ofstream(directory_.path() / "campaign.yaml")
        << "name: one\nworkload: simulation\nfixed: {requests: 1000, objects: 10}\nrepeat: {min: 1, max: 1}\n";
  }

  /// Whoever does not come as far as a run is met by `doctor`, which asks for the facts alone: `run` would wait for it
  /// to become better.
  void judge() {
    std::vector<std::string> words{kLonghaul, "doctor", "--inventory", "testbed.yml"};
    if (kind_.greets) words = {kLonghaul, "run", "campaign.yaml", "--inventory", "testbed.yml", "--out", "out"};
    Running longhaul{std::move(words), directory_.path() / "longhaul.log", directory_.path()};
    std::int64_t most = 0;
    const auto began = std::chrono::steady_clock::now();
    while (!longhaul.child().poll() && std::chrono::steady_clock::now() - began < kPatience) {
      most = std::max(most, memory_of(longhaul.child().pid(), "VmHWM"));
      std::this_thread::sleep_for(5ms);
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
    const auto said = longhaul.said();
    const auto ended = longhaul.child().poll();
    ASSERT_TRUE(ended) << kind_.name << " keeps it busy: " << said;
    EXPECT_TRUE(ended->code) << kind_.name << ": " << ended->text() << "\n" << said;
    EXPECT_TRUE(is_plain(said)) << kind_.name << ": " << said;
    if (kind_.passes) {
      EXPECT_EQ(ended->code, 0) << kind_.name << ": " << said;
    } else {
      EXPECT_NE(ended->code, 0) << kind_.name << ": " << said;
      EXPECT_THAT(said, HasSubstr("client")) << kind_.name;
      // All of it is fetched as it comes: what waits is never too much.
      if (std::string_view{kind_.name} == "flood") {
        EXPECT_THAT(said, HasSubstr("more than 100000 of one run"));
      }
    }
    if (!kSanitized) {
      EXPECT_LT(most, kMemory) << kind_.name << ": KiB";
    }
    EXPECT_FALSE(honest_->child().poll()) << kind_.name << ": " << honest_->said();
    EXPECT_FALSE(hostile_->child().poll()) << kind_.name << ": " << hostile_->said();
    fmt::print("  {:10} longhaul {:6} {} after {:5} ms, {} MiB at most\n", kind_.name, kind_.greets ? "run" : "doctor",
               ended->text(), took.count(), most / 1024);
  }

 private:
  static int port_of(Running& running) {
    EXPECT_TRUE(running.says(" port ")) << running.said();
    const auto said = running.said();
    return std::stoi(said.substr(said.find(" port ") + 6));
  }

  const Kind& kind_;
  Directory directory_;
  std::optional<Running> hostile_, honest_;
};

TEST(HostileAgent, ControllersEndAndSayWhoItWas) {
  // All at once, for most of the time is waiting.
  std::vector<std::jthread> all;
  for (const auto& kind : kKinds) all.emplace_back([&kind] { Testbed{kind}.judge(); });
}

}  // namespace
}  // namespace longhaul::agents
