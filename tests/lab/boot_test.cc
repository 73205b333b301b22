// The lab itself, without the programs of the testbed: boots, crosses its router, is looked after, leaves nothing
// behind.
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "common/child.hh"
#include "lab/lab.hh"
#include "lab/state.hh"

namespace longhaul::lab {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// Labs of these tests live in a runtime folder of their own.
class BootedLab : public testing::Test {
 protected:
  BootedLab() {
    char pattern[] = "/tmp/lh-XXXXXX";
    root_ = ::mkdtemp(pattern);
    ::setenv("XDG_RUNTIME_DIR", root_.c_str(), 1);
    fs::create_directory(root_ + "/no-programs");
  }
  ~BootedLab() override {
    for (const std::string& name : lab_names()) remove_lab(name);
    fs::remove_all(root_);
    ::unsetenv("XDG_RUNTIME_DIR");
  }

  UpOptions options(Topology topology, bool ephemeral) {
    UpOptions options;
    options.name = "t";
    options.topology = topology;
    options.program_dir = root_ + "/no-programs";
    options.ephemeral = ephemeral;
    return options;
  }

  /// Output of a command on a node.
  static std::string output(const std::string& node, std::vector<std::string> command) {
    const auto remote = exec_command({.lab = "t", .node = node, .command = std::move(command)});
    if (!remote) return remote.error().message;
    std::vector<std::string> arguments{"env"};
    arguments.insert(arguments.end(), remote->environment.begin(), remote->environment.end());
    arguments.insert(arguments.end(), remote->arguments.begin(), remote->arguments.end());
    return run_command(arguments).out;
  }

  /// Processes whose command line names this test's folder.
  int processes() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      std::stringstream text;
      text << file.rdbuf();
      // A command line's words end with a zero each.
      const auto program = fs::path{text.str().c_str()}.filename().string();
      if (program.starts_with("qemu") && text.str().find(root_) != std::string::npos) ++count;
    }
    return count;
  }

  std::string root_;
};

/// Packets that an interface of the router has received.
constexpr const char* kReceived = "cat /sys/class/net/$0/statistics/rx_packets";

TEST_F(BootedLab, CompactCrossesTheRouterEvenForProgramsThatBindNoSource) {
  auto lab = up(options(Topology::compact, true));
  ASSERT_TRUE(lab) << lab.error().message;
  EXPECT_EQ(lab->topology(), Topology::compact);
  EXPECT_FALSE(lab->dead_machine());
  EXPECT_TRUE(fs::exists(lab->inventory_path()));

  const int before = std::stoi(output("router", {"sh", "-c", kReceived, "ra0"}));
  EXPECT_THAT(output("client", {"sh", "-c", "ping -q -c 5 -i 0.01 $LONGHAUL_PEER"}), HasSubstr("5 received"));
  EXPECT_EQ(std::stoi(output("router", {"sh", "-c", kReceived, "ra0"})), before + 5);

  // Both kinds of RDMA, connected by rdma_cm, without a source address.
  for (const auto& [server, client] :
       {std::pair{"-d rxe_b0 -x 1", "-d rxe_a0 -x 1 10.20.0.1"}, {"-d siw_b1 -x 0", "-d siw_a1 -x 0 10.21.0.1"}}) {
    const std::string common = "ib_write_lat -R -s 1024 -n 100 ";
    const std::string both =
        common + server +
        " >/dev/null & for i in $(seq 50); do rdma resource show cm_id | grep -q LISTEN && break; sleep 0.1; done; " +
        common + client;
    EXPECT_THAT(output("client", {"sh", "-c", both}), HasSubstr(" 1024    100 ")) << client;
  }
  EXPECT_GT(std::stoi(output("router", {"sh", "-c", kReceived, "ra1"})), 100);
}

TEST_F(BootedLab, FullCrossesTheRouter) {
  auto lab = up(options(Topology::full, true));
  ASSERT_TRUE(lab) << lab.error().message;
  EXPECT_THAT(output("client", {"sh", "-c", "ping -q -c 3 -i 0.01 $LONGHAUL_PEER_SIW"}), HasSubstr("3 received"));
  EXPECT_THAT(output("server", {"sh", "-c", "ibv_devices"}), AnyOf(HasSubstr("rxe_b0"), HasSubstr("siw_b1")));
}

TEST_F(BootedLab, ExecPassesInputAndExitCodeAndManyRunAtOnce) {
  auto lab = up(options(Topology::compact, true));
  ASSERT_TRUE(lab) << lab.error().message;
  EXPECT_EQ(exec({.lab = "t", .node = "server", .command = {"sh", "-c", "exit 7"}}).value(), 7);
  EXPECT_EQ(output("router", {"echo", "it's", "$HOME"}), "it's $HOME\n");
  std::vector<std::jthread> many;
  std::array<int, 12> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i)
    many.emplace_back([&codes, i] {
      codes[i] = exec({.lab = "t", .node = "client", .command = {"sh", "-c", "sleep 0.2; exit 3"}}).value_or(-1);
    });
  many.clear();
  EXPECT_THAT(codes, testing::Each(3));
  EXPECT_THAT(exec({.lab = "t", .node = "moon", .command = {"true"}}).error().message,
              HasSubstr("client, server, router"));
}

TEST_F(BootedLab, ADeadMachineIsNoticed) {
  auto lab = up(options(Topology::compact, false));
  ASSERT_TRUE(lab) << lab.error().message;
  EXPECT_FALSE(up(options(Topology::compact, false))) << "the name is in use";
  const auto before = status();
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(before[0].phase, "up");
  ::kill(before[0].machines[0].pid, SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (!lab->dead_machine() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  ASSERT_TRUE(lab->dead_machine());
  EXPECT_THAT(lab->dead_machine()->console_tail, HasSubstr("longhaul: ready"));
  EXPECT_EQ(status()[0].phase, "broken");
  EXPECT_THAT(exec({.lab = "t", .node = "client", .command = {"true"}}).error().message,
              HasSubstr("not running any more"));
  EXPECT_TRUE(down("t"));
  EXPECT_THAT(lab_names(), IsEmpty());
}

TEST_F(BootedLab, NothingIsLeftOfAKilledOwner) {
  const pid_t owner = ::fork();
  if (owner == 0) {
    auto lab = up(options(Topology::compact, true));
    ::pause();
    ::_exit(0);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{120};
  while ((!load("t") || load("t")->phase != "up") && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  EXPECT_EQ(processes(), 1);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  EXPECT_THAT(status(), IsEmpty());
  EXPECT_EQ(processes(), 0);
  EXPECT_THAT(lab_names(), IsEmpty());
}

TEST_F(BootedLab, AgentsWithoutCertificatesAreRefusedAtOnce) {
  auto uncertified = options(Topology::compact, true);
  uncertified.program_dir = std::string{LONGHAUL_BINARY_DIR} + "/bin";
  const auto lab = up(uncertified);
  ASSERT_FALSE(lab);
  EXPECT_EQ(lab.error().exit_code, ExitCode::usage);
  EXPECT_THAT(lab.error().message, HasSubstr("/etc/longhaul/ca.pem"));
  EXPECT_THAT(lab_names(), IsEmpty());
}

TEST_F(BootedLab, AnInterruptedStartLeavesNothing) {
  auto interrupted = options(Topology::full, false);
  const auto when = std::chrono::steady_clock::now() + std::chrono::seconds{2};
  interrupted.cancelled = [when] { return std::chrono::steady_clock::now() > when; };
  const auto lab = up(interrupted);
  ASSERT_FALSE(lab);
  EXPECT_EQ(lab.error().exit_code, ExitCode::interrupted);
  EXPECT_EQ(processes(), 0);
  EXPECT_THAT(lab_names(), IsEmpty());
}

}  // namespace
}  // namespace longhaul::lab
