#include "lab/plan/guest.hh"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lab/plan/services.hh"
#include "tests/lab/plan/plans.hh"
#include "tests/some.hh"

namespace longhaul::lab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Guest, EveryScriptParses) {
  for (const Topology topology : {Topology::compact, Topology::full}) {
    const LabPlan plan = plan_of(topology, 2);
    for (const PlannedMachine& machine : plan.machines)
      for (const OverlayFile& file : machine.files)
        EXPECT_TRUE(file.path == "/etc/inittab" || parses(file.bytes)) << file.path << " of " << machine.name << "\n"
                                                                       << file.bytes;
  }
}

TEST(Guest, NodesThatShareAMachineReceiveOnTheirOwnProcessors) {
  const LabPlan plan = sealed_plan(2);
  EXPECT_EQ(plan.machines[0].processors, 4U);
  const std::string setup = file_of(plan.machines[0], "/etc/longhaul/setup");
  const auto steered = [](const std::string& netdevs, int mask) {
    return fmt::format("for d in {}; do echo {} >/sys/class/net/$d/queues/rx-0/rps_cpus; done\n", netdevs, mask);
  };
  EXPECT_THAT(setup, HasSubstr(steered("a0 a1 c0 c1", 1)));
  EXPECT_THAT(setup, HasSubstr(steered("a2 a3", 1)));
  EXPECT_THAT(setup, HasSubstr(steered("b0 b1 d0 d1", 2)));
  EXPECT_THAT(setup, HasSubstr("for d in ra0 ra1 ra2 ra3 rb0 rb1; do ip link set $d gro_max_size 0; ethtool -K $d gro "
                               "on; echo 1 >/sys/class/net/$d/threaded; done\n"));
  EXPECT_THAT(setup, HasSubstr("napi/r*) chrt -f -p 1 $p; taskset -p 4 $p >/dev/null;;"));
  EXPECT_THAT(file_of(plan.machines[0], "/etc/longhaul/service/keep-degen"),
              HasSubstr("ip netns exec R taskset 8 degen serve"));

  // By the host's clock there may be too few for the router: who sends to it does its work.
  const LabPlan small = plan_of(Topology::compact);
  EXPECT_EQ(small.machines[0].processors, 2U);
  EXPECT_THAT(file_of(small.machines[0], "/etc/longhaul/setup"),
              AllOf(HasSubstr(steered("b0 b1 d0 d1", 2)), Not(HasSubstr("threaded"))));
  for (const PlannedMachine& machine : some(plan_of(Topology::full).machines))
    EXPECT_THAT(file_of(machine, "/etc/longhaul/setup"), AllOf(HasSubstr("siw_tx*) chrt -f -p 1 $p;; esac"),
                                                               Not(HasSubstr("rps_cpus")), Not(HasSubstr("threaded"))));
}

TEST(Guest, EndsHaveHelpersTheRouterHasNone) {
  const auto script = [](Topology topology, const char* node, const char* service) {
    const LabPlan plan = plan_of(topology);
    return file_of(plan.machine_of(*plan.find(node)), fmt::format("/etc/longhaul/service/keep-{}", service));
  };
  for (const auto topology : {Topology::compact, Topology::full})
    EXPECT_EQ(script(topology, "server", "tracing"), tracing_script());
  EXPECT_EQ(script(Topology::compact, "server", "nfs"), nfs_script(NfsProcessors{.client = 1, .server = 2}));
  EXPECT_EQ(script(Topology::full, "server", "nfs"), nfs_script({}));
  for (const char* service : {"tracing", "nfs"})
    EXPECT_THAT(script(Topology::full, "router", service), HasSubstr("(no "));
}

TEST(Guest, HugePagesWhereThereIsMemoryForThem) {
  EXPECT_THAT(file_of(plan_of(Topology::compact).machines[0], "/etc/longhaul/setup"), HasSubstr("vm/nr_hugepages"));
  for (const PlannedMachine& machine : some(plan_of(Topology::full).machines))
    EXPECT_THAT(file_of(machine, "/etc/longhaul/setup"), Not(HasSubstr("nr_hugepages")));
}

TEST(Guest, OnlyDegenIsPrivileged) {
  const LabPlan plan = plan_of(Topology::compact);
  const PlannedMachine& machine = plan.machines[0];
  EXPECT_THAT(file_of(machine, "/etc/longhaul/service/keep-degen"),
              HasSubstr("ip netns exec R degen serve --socket /run/degen/degen.sock --client-side ra0,ra1 "
                        "--server-side rb0,rb1"));
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

TEST(Guest, ASealedLabIsKeptWithTheKernelsNfsPrepared) {
  const auto ready = [](const LabPlan& plan) { return file_of(plan.machines[0], "/etc/longhaul/ready"); };
  const auto sealed = ready(sealed_plan(1));
  EXPECT_TRUE(parses(sealed)) << sealed;
  EXPECT_LT(sealed.find("prepare sealed"), sealed.find("longhaul-sealed serve")) << sealed;
  EXPECT_THAT(ready(plan_of(Topology::compact)), Not(HasSubstr("prepare"))) << "it boots as fast as before";
}

TEST(Guest, ProgramsThatAreMissingAreLeftOut) {
  PlanOptions options{
      .topology = Topology::compact, .directory = "/run/l", .programs = {"longhaul-bench"}, .host_ports = {1, 2, 3, 4}};
  const LabPlan plan = make_plan(options);
  EXPECT_EQ(file_of(plan.machines[0], "/etc/inittab"),
            "::respawn:/etc/longhaul/service/keep-tracing\n"
            "::respawn:/etc/longhaul/service/keep-nfs\n"
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
