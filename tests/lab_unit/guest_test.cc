#include "lab/plan/guest.hh"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "lab/plan/services.hh"
#include "tests/lab_unit/plans.hh"
#include "tests/some.hh"

namespace longhaul::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The guest's shell itself says whether it can read a script.
bool parses(const std::string& script) {
  FILE* shell = ::popen("dash -n", "w");
  std::fwrite(script.data(), 1, script.size(), shell);
  return ::pclose(shell) == 0;
}

TEST(Guest, EveryScriptParses) {
  for (const Topology topology : {Topology::compact, Topology::full}) {
    const LabPlan plan = plan_of(topology, 2);
    for (const PlannedMachine& machine : plan.machines)
      for (const OverlayFile& file : machine.files)
        EXPECT_TRUE(file.path == "/etc/inittab" || parses(file.bytes)) << file.path << " of " << machine.name << "\n"
                                                                       << file.bytes;
  }
}

TEST(Guest, WhoReceivesIsSteeredWhereNodesShareAMachine) {
  const auto script = [](Topology topology) {
    return file_of(plan_of(topology).machines[0], "/etc/longhaul/service/keep-steering");
  };
  EXPECT_THAT(script(Topology::compact), HasSubstr("mkfifo -m 0620 $f\nchown 0:1000 $f\n"));
  EXPECT_THAT(script(Topology::full), HasSubstr("(no "));
}

/// The tracing service over a folder in the place of the kernel's, fed with these lines; what it left there and said.
class Tracing : public testing::Test {
 protected:
  Tracing() {
    std::filesystem::create_directories(root_ / "tracing");
    for (const char* file : {"tracing_on", "buffer_size_kb", "trace_options", "kprobe_events"})
      std::ofstream(root_ / "tracing" / file) << "-\n";
    // The kernel has these as soon as the probes are asked for.
    for (const std::string probe : {"enter_1", "leave_1", "enter_2", "leave_2"}) {
      std::filesystem::create_directories(root_ / "tracing/events/longhaul" / probe);
      std::ofstream(root_ / "tracing/events/longhaul" / probe / "id") << "16" + probe.substr(6) + "\n";
    }
    std::ofstream(root_ / "tracing/trace") << "a trace\n";
  }
  ~Tracing() override { std::filesystem::remove_all(root_); }

  void feed(const std::string& lines) {
    std::string script = tracing_script();
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (std::size_t at = 0; (at = script.find(from, at)) != std::string::npos; at += to.size())
        script.replace(at, from.size(), to);
    };
    replace("/sys/kernel/tracing", (root_ / "tracing").string());
    replace("/run/longhaul/tracing", (root_ / "run/tracing").string());
    replace("chown ", ": chown ");
    // The end of the lines is the end of the service.
    replace("done <>$f\n", "done <<'E'\n" + lines + "E\nexit 0\n");
    FILE* shell = ::popen("dash", "w");
    std::fwrite(script.data(), 1, script.size(), shell);
    EXPECT_EQ(::pclose(shell), 0);
  }
  std::string text(const std::string& file) const {
    std::ifstream in(root_ / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool exists(const std::string& file) const { return std::filesystem::exists(root_ / file); }

  const std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) / fmt::format("tracing-{}", ::getpid());
  const std::string me_ = fmt::format("{}", ::getpid());
};

TEST_F(Tracing, StartsForOneThreadAndTheseFunctions) {
  feed("start one-1 " + me_ + " ib_umem_get rxe_mr_init_user\n");
  EXPECT_TRUE(exists("run/tracing-one-1.on"));
  EXPECT_EQ(text("tracing/kprobe_events"),
            "\np:longhaul/enter_1 ib_umem_get\nr:longhaul/leave_1 ib_umem_get\n"
            "p:longhaul/enter_2 rxe_mr_init_user\nr:longhaul/leave_2 rxe_mr_init_user\n");
  EXPECT_EQ(text("tracing/events/longhaul/filter"), "common_pid == " + me_ + "\n");
  EXPECT_EQ(text("tracing/events/longhaul/enable"), "1\n");
  EXPECT_EQ(text("tracing/tracing_on"), "1\n");
}

TEST_F(Tracing, StopLeavesTheTextAndATracerThatIsOff) {
  feed("start one " + me_ + " ib_umem_get\nstop other\nstop one\n");
  EXPECT_TRUE(exists("run/tracing-one.txt"));
  EXPECT_FALSE(exists("run/tracing-other.txt"));
  EXPECT_FALSE(exists("run/tracing-one.on"));
  EXPECT_EQ(text("run/tracing-one.txt"), "enter 161 ib_umem_get\nleave 161 ib_umem_get\n\n") << "old events are gone";
  EXPECT_EQ(text("tracing/events/longhaul/enable"), "0\n");
  EXPECT_EQ(text("tracing/kprobe_events"), "\n");
  EXPECT_EQ(text("tracing/tracing_on"), "0\n");
}

TEST_F(Tracing, WhoHasTheTracerKeepsItWhileItLives) {
  feed("start one " + me_ + " ib_umem_get\nstart two " + me_ + " ib_umem_get\n");
  EXPECT_TRUE(exists("run/tracing-one.on"));
  EXPECT_FALSE(exists("run/tracing-two.on"));
}

TEST_F(Tracing, LinesThatAreNotAsTheyShouldBeAreLeftUnanswered) {
  const std::vector<std::string> lines{"start ../one " + me_ + " f", "start one 12x f",         "start one " + me_,
                                       "start one " + me_ + " f;g",  "start one " + me_ + " *", "start one 999999999 f",
                                       "begin one " + me_ + " f"};
  for (const std::string& line : lines) {
    feed(line + "\n");
    EXPECT_EQ(text("tracing/kprobe_events"), "\n") << line;
    EXPECT_FALSE(exists("run/tracing-one.on")) << line;
  }
}

TEST(Guest, EndsAreTracedTheRouterIsNot) {
  const auto script = [](Topology topology, const char* node) {
    const LabPlan plan = plan_of(topology);
    return file_of(plan.machine_of(*plan.find(node)), "/etc/longhaul/service/keep-tracing");
  };
  EXPECT_EQ(script(Topology::compact, "server"), tracing_script());
  EXPECT_EQ(script(Topology::full, "server"), tracing_script());
  EXPECT_THAT(script(Topology::full, "router"), HasSubstr("(no "));
}

TEST(Guest, HugePagesWhereThereIsMemoryForThem) {
  EXPECT_THAT(file_of(plan_of(Topology::compact).machines[0], "/etc/longhaul/setup"), HasSubstr("vm/nr_hugepages"));
  for (const PlannedMachine& machine : some(plan_of(Topology::full).machines))
    EXPECT_THAT(file_of(machine, "/etc/longhaul/setup"), Not(HasSubstr("nr_hugepages")));
}

TEST(Guest, OnlyDegenIsPrivileged) {
  const LabPlan plan = plan_of(Topology::compact);
  const PlannedMachine& machine = plan.machines[0];
  EXPECT_THAT(
      file_of(machine, "/etc/longhaul/service/keep-degen"),
      HasSubstr(
          "ip netns exec R degen serve --socket /run/degen/degen.sock --client-side ra0,ra1 --server-side rb0,rb1"));
  const std::string router = file_of(machine, "/etc/longhaul/service/keep-agent-router");
  EXPECT_THAT(router, HasSubstr("ip netns exec R setpriv --reuid 1000"));
  EXPECT_THAT(router,
              HasSubstr("--listen 0.0.0.0:41003 --ca /etc/longhaul/ca.pem --cert /etc/longhaul/agent-router.pem"));
  EXPECT_THAT(router, HasSubstr("--degen /run/degen/degen.sock"));
  const std::string client = file_of(machine, "/etc/longhaul/service/keep-agent-client");
  EXPECT_THAT(client, HasSubstr("setpriv --reuid 1000"));
  EXPECT_THAT(client, Not(HasSubstr("--degen")));
  EXPECT_THAT(client, Not(HasSubstr("netns")));
}

TEST(Guest, EndsThatShareProcessorsGetTheirOwn) {
  const LabPlan compact = plan_of(Topology::compact);
  EXPECT_THAT(file_of(compact.machines[0], "/etc/longhaul/service/keep-agent-client"), HasSubstr(" --cpus 0\n"));
  EXPECT_THAT(file_of(compact.machines[0], "/etc/longhaul/service/keep-agent-server"), HasSubstr(" --cpus 1\n"));
  EXPECT_THAT(file_of(compact.machines[0], "/etc/longhaul/service/keep-agent-router"), Not(HasSubstr("--cpus")));
  const LabPlan full = plan_of(Topology::full);
  for (const PlannedMachine& machine : some(full.machines))
    EXPECT_THAT(file_of(machine, "/etc/longhaul/service/keep-agent-" + machine.name), Not(HasSubstr("--cpus")));
}

TEST(Guest, EveryServiceIsKeptAlive) {
  const LabPlan plan = plan_of(Topology::full);
  EXPECT_EQ(file_of(plan.machines[0], "/etc/inittab"),
            "::respawn:/etc/longhaul/service/keep-degen\n::respawn:/etc/longhaul/service/keep-agent-router\n::respawn:/"
            "etc/longhaul/service/keep-dropbear\n"
            "::once:/etc/longhaul/ready\n");
}

TEST(Guest, ProgramsThatAreMissingAreLeftOut) {
  PlanOptions options{
      .topology = Topology::compact, .directory = "/run/l", .programs = {"longhaul-bench"}, .host_ports = {1, 2, 3, 4}};
  const LabPlan plan = make_plan(options);
  EXPECT_EQ(file_of(plan.machines[0], "/etc/inittab"),
            "::respawn:/etc/longhaul/service/keep-steering\n::respawn:/etc/longhaul/service/keep-tracing\n"
            "::respawn:/etc/longhaul/service/keep-dropbear\n"
            "::once:/etc/longhaul/ready\n");
  // 41001 = A029
  EXPECT_THAT(file_of(plan.machines[0], "/etc/longhaul/ready"), Not(HasSubstr("A029")));
}

TEST(Guest, CompactRulesSendUnboundProgramsAcrossTheRouterToo) {
  const LabPlan plan = plan_of(Topology::compact, 2);
  const std::string setup = file_of(plan.machines[0], "/etc/longhaul/setup");
  EXPECT_THAT(setup, HasSubstr("route add default via 10.10.0.254 dev a0 table 101\n"));
  EXPECT_THAT(setup, HasSubstr("rule add pref 10 iif b1 lookup local\n"));
  EXPECT_THAT(setup, HasSubstr("rule add pref 20 from 10.10.1.1 lookup 103\n"));
  EXPECT_THAT(setup, HasSubstr("rule add pref 25 iif lo to 10.20.0.1 lookup 101\n"));
  EXPECT_THAT(setup, HasSubstr("rule add pref 25 iif lo to 10.10.1.1 lookup 201\n"));
  EXPECT_THAT(setup, HasSubstr("rule add pref 30 lookup local\nrule del pref 0\n"));
}

TEST(Guest, CommandsAreToldWhereTheyStand) {
  const LabPlan plan = plan_of(Topology::full);
  EXPECT_EQ(file_of(plan.machine_of(*plan.find("client")), "/etc/longhaul/node/client"),
            "#!/bin/sh\nexport LONGHAUL_NODE=client LONGHAUL_ADDR=10.10.0.1 LONGHAUL_DEVICE=rxe_a0 LONGHAUL_NETDEV=a0 "
            "LONGHAUL_PEER=10.20.0.1"
            " LONGHAUL_ADDR_SIW=10.11.0.1 LONGHAUL_DEVICE_SIW=siw_a1 LONGHAUL_NETDEV_SIW=a1 "
            "LONGHAUL_PEER_SIW=10.21.0.1"
            " LONGHAUL_ADDR_LAN=10.30.0.1 LONGHAUL_DEVICE_LAN=rxe_c0 LONGHAUL_NETDEV_LAN=c0 "
            "LONGHAUL_PEER_LAN=10.30.0.2"
            " LONGHAUL_ADDR_SIW_LAN=10.31.0.1 LONGHAUL_DEVICE_SIW_LAN=siw_c1 LONGHAUL_NETDEV_SIW_LAN=c1 "
            "LONGHAUL_PEER_SIW_LAN=10.31.0.2\nexec \"$@\"\n");
  const LabPlan compact = plan_of(Topology::compact);
  EXPECT_EQ(file_of(compact.machines[0], "/etc/longhaul/node/router"),
            "#!/bin/sh\nexport LONGHAUL_NODE=router\nexec ip netns exec R \"$@\"\n");
}

}  // namespace
}  // namespace longhaul::lab
