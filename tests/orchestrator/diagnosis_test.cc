// The doctor's decisions: each thing that can be missing is named, with where and what to do.
#include "orchestrator/run/diagnosis.hh"

#include <gmock/gmock.h>

namespace longhaul::orchestrator {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kVersion = "0.1.0 (commit 1a2b3c4d)";

Node end_node(const std::string& name, Role role, const std::string& prefix) {
  Node node{.name = name, .role = role, .host = "192.0.2.1", .port = 7471};
  node.attachments.push_back({"wan", prefix + "0", "10.0." + prefix + ".2", "rxe_" + prefix + "0", "rxe"});
  return node;
}

NodeFacts end_facts(const std::string& prefix) {
  NodeFacts facts;
  facts.longhaul_version = kVersion;
  facts.nics.push_back({.name = prefix + "0", .mtu = 1500, .addresses = {"10.0." + prefix + ".2/24"}});
  facts.rdma.push_back({.name = "rxe_" + prefix + "0", .provider = "rxe", .netdev = prefix + "0", .state = "ACTIVE"});
  return facts;
}

class Diagnosis : public testing::Test {
 protected:
  Diagnosis() {
    Node router{.name = "router", .role = Role::router, .host = "192.0.2.3", .port = 7471};
    router.links.push_back({"ra0", "rb0"});
    testbed_.nodes = {end_node("client", Role::client, "a"), end_node("server", Role::server, "b"), router};
    nodes_["client"].facts = end_facts("a");
    nodes_["server"].facts = end_facts("b");
    nodes_["router"].facts.longhaul_version = kVersion;
    nodes_["router"].facts.nics = {{.name = "ra0", .mtu = 1500}, {.name = "rb0", .mtu = 1500}};
    paths_.push_back({"client", "server", "wan", "10.0.a.2", "10.0.b.2", 10, 10, ""});
  }
  std::vector<Complaint> complaints() const { return diagnose(testbed_, nodes_, paths_, asker_); }
  Complaint only() const {
    const auto all = complaints();
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? Complaint{} : all.front();
  }
  Testbed testbed_;
  std::map<std::string, Examined> nodes_;
  std::vector<TriedPath> paths_;
  Asker asker_{.version = kVersion, .name = "me", .now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 1}};
};

TEST_F(Diagnosis, AHealthyTestbedHasNoComplaint) {
  EXPECT_THAT(complaints(), IsEmpty());
}

TEST_F(Diagnosis, ANodeThatDoesNotAnswerHidesNothingElse) {
  nodes_["server"] = {.unreachable = "server: connection refused", .facts = {}};
  paths_.clear();
  EXPECT_EQ(only().node, "server");
  EXPECT_THAT(only().remedy, HasSubstr("port 7471 of 192.0.2.1"));
}

TEST_F(Diagnosis, LittleMemoryThatMayBeLocked) {
  nodes_["client"].facts.locked_bytes = 8 << 20;
  nodes_["server"].facts.locked_bytes = 1 << 30;
  nodes_["router"].facts.locked_bytes = 8 << 20;  // registers nothing
  EXPECT_EQ(only().node, "client");
  EXPECT_FALSE(only().serious) << "small messages do with it";
  EXPECT_THAT(only().what, HasSubstr("lock 8MiB"));
  EXPECT_THAT(only().remedy, AllOf(HasSubstr("LimitMEMLOCK=infinity"), HasSubstr("PropagateResourceLimitsExcept")));
  for (auto& attachment : testbed_.nodes[0].attachments) attachment.device.clear();
  EXPECT_THAT(complaints(), IsEmpty()) << "sockets lock nothing";
}

TEST_F(Diagnosis, AnotherVersion) {
  nodes_["client"].facts.longhaul_version = "0.0.9";
  EXPECT_THAT(only().what, HasSubstr("0.0.9"));
}

TEST_F(Diagnosis, AWrongInterfaceNameListsWhatThereIs) {
  testbed_.nodes[0].attachments[0].netdev = "eth7";
  EXPECT_THAT(only().what, AllOf(HasSubstr("eth7"), HasSubstr("it has a0")));
}

TEST_F(Diagnosis, AWrongAddress) {
  testbed_.nodes[0].attachments[0].address = "10.9.9.9";
  EXPECT_THAT(only().what, AllOf(HasSubstr("10.9.9.9"), HasSubstr("10.0.a.2/24")));
}

TEST_F(Diagnosis, AMissingSoftDeviceComesWithTheCommand) {
  nodes_["server"].facts.rdma.clear();
  EXPECT_THAT(only().what, HasSubstr("rxe_b0 is not there; it has none"));
  EXPECT_THAT(only().remedy, HasSubstr("rdma link add rxe_b0 type rxe netdev b0"));
}

TEST_F(Diagnosis, ADeviceOfAnotherProviderThatIsDown) {
  nodes_["server"].facts.rdma[0].provider = "siw";
  nodes_["server"].facts.rdma[0].state = "DOWN";
  EXPECT_THAT(complaints(), ElementsAre(Field(&Complaint::what, HasSubstr("is of siw, the inventory says rxe")),
                                        Field(&Complaint::what, HasSubstr("is DOWN"))));
}

TEST_F(Diagnosis, MtusThatDiffer) {
  nodes_["router"].facts.nics[1].mtu = 9000;
  EXPECT_THAT(only().what,
              AllOf(HasSubstr("MTUs on path wan differ"), HasSubstr("1500 on client a0, server b0, router ra0"),
                    HasSubstr("9000 on router rb0")));
}

TEST_F(Diagnosis, ARouterWithoutDegenAndWithWrongLinks) {
  nodes_["router"].degen = "no such socket";
  testbed_.nodes[2].links[0].client_side = "eth9";
  EXPECT_THAT(complaints(), ElementsAre(Field(&Complaint::what, HasSubstr("eth9")),
                                        Field(&Complaint::what, HasSubstr("degen does not answer: no such socket"))));
}

TEST_F(Diagnosis, APathThatNothingCrosses) {
  paths_[0].came = 0;
  EXPECT_THAT(only().what, HasSubstr("none of 10 packets came back"));
  paths_[0].came = 9;
  EXPECT_FALSE(only().serious);
}

TEST_F(Diagnosis, WhatWouldMakeAComparisonUnfairIsAdvice) {
  nodes_["client"].facts.nics[0].offloads = {{"tso", true}, {"gro", true}, {"rx-checksum", true}};
  nodes_["server"].facts.sysctls["net.ipv4.tcp_no_metrics_save"] = "0";
  const auto all = complaints();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_FALSE(all[0].serious || all[1].serious);
  EXPECT_THAT(all[0].remedy, HasSubstr("ethtool -K a0 tso off gro off"));
}

TEST_F(Diagnosis, ClocksMatterWhereThereAreSeveral) {
  for (auto& [name, examined] : nodes_) examined.facts.clock_synchronised = name != "server";
  EXPECT_THAT(complaints(), IsEmpty());  // one machine has one clock
  for (auto& [name, examined] : nodes_) examined.facts.boot_id = name;
  EXPECT_EQ(only().node, "server");
  EXPECT_FALSE(only().serious);
}

TEST_F(Diagnosis, WhatDegensOwnUserCannotReadOrBe) {
  nodes_["router"].lacks = {{degen::Need::queues, "Operation not permitted"}};
  EXPECT_FALSE(only().serious) << "engine netem needs none";
  EXPECT_THAT(only().what, HasSubstr("no netfilter queues (Operation not permitted): there is no engine nfqueue"));
  EXPECT_THAT(only().remedy, HasSubstr("modprobe nfnetlink_queue"));
  nodes_["router"].lacks = {{degen::Need::queue_counters, "Permission denied"}};
  EXPECT_TRUE(only().serious) << "losses would be taken for the path's";
  EXPECT_EQ(only().node, "router");
  EXPECT_THAT(only().remedy, HasSubstr("chgrp degen /proc/net/netfilter/nfnetlink_queue"));
  nodes_["router"].lacks = {{degen::Need::real_time, "Operation not permitted"}};
  EXPECT_FALSE(only().serious);
  EXPECT_THAT(only().remedy, HasSubstr("LimitRTPRIO=1"));
}

TEST_F(Diagnosis, CertificatesThatEndSoonAreAdvice) {
  const agents::Term year{.begin = asker_.now - std::chrono::hours{24 * 360},
                          .end = asker_.now + std::chrono::hours{24 * 5}};
  nodes_["server"].certificate = year;
  EXPECT_EQ(only().node, "server");
  EXPECT_FALSE(only().serious);
  EXPECT_THAT(only().what, HasSubstr("its certificate expires in 5 days, on 2026-11-06T00:00:00Z"));
  EXPECT_THAT(only().remedy, HasSubstr("longhaul pki issue agent server --replace"));
  nodes_["server"].certificate = {};
  asker_.certificate = year;
  EXPECT_EQ(only().node, "");
  EXPECT_THAT(only().what, HasSubstr("this controller's certificate expires in 5 days"));
  EXPECT_THAT(only().remedy, HasSubstr("longhaul pki issue controller me --replace"));
}

TEST_F(Diagnosis, ATestbedWithoutARouterHasNoDelays) {
  testbed_.nodes.pop_back();
  EXPECT_FALSE(only().serious);
}

}  // namespace
}  // namespace longhaul::orchestrator
