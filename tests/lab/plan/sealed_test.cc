// Settings that only a sealed lab has.
#include <gmock/gmock.h>

#include <unistd.h>

#include "lab/sealed_vm.hh"
#include "tests/lab/plan/plans.hh"
#include "tests/some.hh"

namespace longhaul::lab {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const PlannedMachine& only(const LabPlan& plan) {
  EXPECT_EQ(plan.machines.size(), 1U);
  return plan.machines.front();
}

TEST(SealedLab, IsOneMachineThatNothingReaches) {
  const auto plan = sealed_plan();
  const auto& machine = only(plan);
  EXPECT_EQ(machine.processors, 4U);
  EXPECT_THAT(machine.arguments, IsEmpty()) << "its hardware is lab/sealed.cc's";
  EXPECT_THAT(machine.listens, IsEmpty());
  EXPECT_EQ(machine.ssh_port, 0);
  for (const auto& node : some(plan.nodes)) EXPECT_EQ(node.host_port, 0) << node.name;
  EXPECT_EQ(plan.find("router")->guest_address, "10.0.2.16");
}

TEST(SealedOutput, WhatIsTooLongIsSaid) {
  const SealedOutput output;
  EXPECT_EQ(output.excess(), "");
  ASSERT_EQ(::ftruncate(output.said.get(), kMostSaid), 0);
  EXPECT_EQ(output.excess(), "");
  ASSERT_EQ(::ftruncate(output.console.get(), kMostConsole + 1), 0);
  EXPECT_EQ(output.excess(), "wrote to its console 16777217 bytes, at most 16777216 are kept");
  ASSERT_EQ(::ftruncate(output.said.get(), kMostSaid + 1), 0);
  EXPECT_THAT(output.excess(), HasSubstr("said 134217729 bytes"));
}

// Every copy, on every machine, must be the same: nothing may come in from where it is started.
TEST(SealedLab, IsTheSameWhateverTheHostIs) {
  PlanOptions here{.topology = Topology::compact,
                   .directory = "/run/here",
                   .disk = {},
                   .programs = {"longhaul-agent", "degen", "longhaul-sealed"},
                   .sealed = true};
  auto there = here;
  there.directory = "/run/there";
  here.host_ports = {1, 2, 3, 4};
  there.host_ports = {50001, 50002, 50003, 50004};
  const auto a = make_plan(here), b = make_plan(there);
  ASSERT_EQ(only(a).files.size(), only(b).files.size());
  for (std::size_t i = 0; i < only(a).files.size(); ++i)
    EXPECT_EQ(only(a).files[i].bytes, only(b).files[i].bytes) << only(a).files[i].path;
}

TEST(SealedLab, ItsScriptsParse) {
  for (const auto clients : {1U, 3U}) {
    const auto plan = sealed_plan(clients);
    for (const auto& file : some(only(plan).files))
      EXPECT_TRUE(file.path == "/etc/inittab" || parses(file.bytes)) << file.path << "\n" << file.bytes;
  }
}

TEST(SealedLab, ItsNodesAreConnectedWithoutANetworkCard) {
  const auto setup = file_of(only(sealed_plan()), "/etc/longhaul/setup");
  EXPECT_THAT(setup, Not(HasSubstr("macvlan")));
  const auto made = setup.find("link add eth0 type veth peer name mgmt netns ");
  const auto up = setup.find("link set eth0 up");
  ASSERT_NE(made, std::string::npos);
  ASSERT_NE(up, std::string::npos);
  EXPECT_LT(made, up) << "it is not there before it is made";
}

TEST(SealedLab, KeysOfAllNodesAreMadeInside) {
  const auto setup = file_of(only(sealed_plan(2)), "/etc/longhaul/setup");
  EXPECT_THAT(setup, HasSubstr("longhaul-sealed identities /etc/longhaul/pki client client2 server router\n"));
  EXPECT_THAT(setup, HasSubstr("ln -s pki/ca.pem /etc/longhaul/ca.pem\n"));
  for (const std::string node : {"client", "client2", "server", "router"})
    for (const std::string kind : {"pem", "key"})
      EXPECT_THAT(setup, HasSubstr("ln -s pki/agent-" + node + "." + kind + " /etc/longhaul/agent-" + node + "." +
                                   kind + "\n"));
  EXPECT_THAT(setup, HasSubstr("chown -R 1000:1000 /etc/longhaul/pki\n"));
}

TEST(SealedLab, ItsDriverTakesOverWhenAllIsThere) {
  const auto ready = file_of(only(sealed_plan()), "/etc/longhaul/ready");
  EXPECT_THAT(ready, HasSubstr("echo 'longhaul: ready'\nlonghaul-sealed serve\n"));
  EXPECT_THAT(ready, EndsWith("echo b >/proc/sysrq-trigger\n")) << "a driver that dies takes its machine with it";
  EXPECT_THAT(ready, Not(HasSubstr("listens 0016"))) << "nobody logs in";
  EXPECT_THAT(ready, HasSubstr("listens A029 ")) << "the agents are waited for";
  EXPECT_THAT(ready, HasSubstr("/run/degen/degen.sock"));
}

TEST(SealedLab, NobodyLogsIn) {
  const auto plan = sealed_plan();
  for (const auto& file : some(only(plan).files)) {
    EXPECT_THAT(file.path, Not(HasSubstr("dropbear")));
    EXPECT_THAT(file.bytes, Not(HasSubstr("dropbear"))) << file.path;
  }
}

TEST(SealedLab, OthersAreAsTheyWere) {
  const auto plan = plan_of(Topology::compact);
  const auto& machine = only(plan);
  EXPECT_THAT(machine.arguments, Not(IsEmpty()));
  const auto setup = file_of(machine, "/etc/longhaul/setup");
  EXPECT_THAT(setup, HasSubstr("link set lo up\nlink set eth0 up\naddress add 10.0.2.15/24 dev eth0\n"
                               "link add link eth0 name mgmt netns "));
  EXPECT_THAT(setup, HasSubstr(" type macvlan mode bridge\n"));
  EXPECT_THAT(file_of(machine, "/etc/longhaul/ready"),
              AllOf(EndsWith("echo 'longhaul: ready'\n"), HasSubstr("\nlistens 0016 ''\n")));
  EXPECT_THAT(file_of(machine, "/etc/longhaul/service/keep-dropbear"), HasSubstr("tcpserver"));
  for (const auto& file : some(machine.files)) EXPECT_THAT(file.bytes, Not(HasSubstr("longhaul-sealed"))) << file.path;
}

}  // namespace
}  // namespace longhaul::lab
