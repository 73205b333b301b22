#include "lab/plan/topology.hh"

#include <gmock/gmock.h>

#include <set>

#include "lab/plan/inventory.hh"
#include "model/testbed.hh"
#include "tests/lab/plan/plans.hh"

namespace longhaul::lab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Topology, FullOnlyWhereEveryNodeHasACore) {
  EXPECT_EQ(choose_topology(Topology::automatic, 2, 3), Topology::compact);
  EXPECT_EQ(choose_topology(Topology::automatic, 3, 3), Topology::full);
  EXPECT_EQ(choose_topology(Topology::full, 1, 3), Topology::full);
}

TEST(Topology, ParsesWhatItPrints) {
  for (const Topology topology : {Topology::automatic, Topology::compact, Topology::full, Topology::systems})
    EXPECT_EQ(parse_topology(to_string(topology)), topology);
  EXPECT_THAT(parse_topology("ring").error().message, HasSubstr("compact, full, systems or auto"));
}

TEST(LabPlan, CompactIsOneMachineWithTheRouterAtAnAddressOfItsOwn) {
  const LabPlan plan = plan_of(Topology::compact);
  ASSERT_EQ(plan.machines.size(), 1U);
  EXPECT_THAT(plan.machines[0].arguments,
              Contains("user,id=mgmt,restrict=on,hostfwd=tcp:127.0.0.1:50004-10.0.2.15:22,hostfwd=tcp:127.0.0.1:50001-"
                       "10.0.2.15:41001,"
                       "hostfwd=tcp:127.0.0.1:50002-10.0.2.15:41002,hostfwd=tcp:127.0.0.1:50003-10.0.2.16:41003"));
  EXPECT_EQ(plan.find("client")->ends[0].device, "rxe_a0");
  EXPECT_EQ(plan.find("server")->ends[1].address, "10.21.0.1");
  EXPECT_EQ(plan.find("nobody"), nullptr);
}

TEST(LabPlan, FullStartsTheRouterFirstBecauseItListensOnTheWires) {
  const LabPlan plan = plan_of(Topology::full, 2);
  ASSERT_EQ(plan.machines.size(), 4U);
  EXPECT_EQ(plan.machines[0].name, "router");
  EXPECT_THAT(plan.machines[0].listens, ElementsAre("/run/l/ra0.sock", "/run/l/ra1.sock", "/run/l/ra2.sock",
                                                    "/run/l/ra3.sock", "/run/l/rb0.sock", "/run/l/rb1.sock"));
  EXPECT_THAT(plan.machines[0].arguments, Contains("stream,id=ra0,server=on,addr.type=unix,addr.path=/run/l/ra0.sock"));
  EXPECT_THAT(plan.machine_of(*plan.find("client2")).arguments,
              Contains("stream,id=a2,server=off,addr.type=unix,addr.path=/run/l/ra2.sock"));
}

TEST(LabPlan, ACableGoesStraightFromTheFirstClientToTheServer) {
  for (const auto topology : {Topology::compact, Topology::full}) {
    const LabPlan plan = plan_of(topology, 2);
    const auto& client = *plan.find("client");
    const auto& server = *plan.find("server");
    ASSERT_EQ(client.lan.size(), 2U);
    EXPECT_TRUE(plan.find("client2")->lan.empty());
    for (std::size_t kind = 0; kind < 2; ++kind) {
      EXPECT_EQ(client.lan[kind].provider, server.lan[kind].provider);
      EXPECT_EQ(client.lan[kind].router_address, server.lan[kind].address);
      EXPECT_EQ(server.lan[kind].router_mac, client.lan[kind].mac);
    }
    EXPECT_EQ(client.lan[0].address, "10.30.0.1");
    EXPECT_EQ(server.lan[1].address, "10.31.0.2");
  }
  const LabPlan full = plan_of(Topology::full);
  EXPECT_THAT(full.machine_of(*full.find("client")).listens, ElementsAre("/run/l/lan-rxe.sock", "/run/l/lan-siw.sock"));
  EXPECT_THAT(full.machine_of(*full.find("server")).arguments,
              Contains("stream,id=d1,server=off,addr.type=unix,addr.path=/run/l/lan-siw.sock"));
}

// So that records, certificates and the inventory of two labs tell them apart.
TEST(LabPlan, NamesOfNodesMayHaveAPrefix) {
  EXPECT_THAT(node_names(2, "west-"), ElementsAre("west-client", "west-client2", "west-server", "west-router"));
  for (const auto topology : {Topology::compact, Topology::full}) {
    const auto plan = plan_of(topology, 2, "west-");
    ASSERT_NE(plan.find("west-client2"), nullptr);
    EXPECT_EQ(plan.find("west-client2")->role, Role::client);
    EXPECT_EQ(plan.find("west-server")->role, Role::server);
    EXPECT_EQ(plan.find("west-router")->role, Role::router);
    EXPECT_EQ(plan.find("server"), nullptr);
    EXPECT_EQ(plan.find("west-server")->ends[0].address, "10.20.0.1") << "addresses stay";
  }
  for (const auto* good : {"", "a", "west-", "9_"}) EXPECT_TRUE(check_prefix(good)) << good;
  for (const auto* bad : {"-", "_a", "a b", "a/", "a.", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
    EXPECT_FALSE(check_prefix(bad)) << bad;
}

TEST(LabPlan, EveryClientMeetsTheServerOnBothKinds) {
  const LabPlan plan = plan_of(Topology::compact, 2);
  ASSERT_EQ(plan.links.size(), 4U);
  EXPECT_EQ(plan.links[3].client_side, "ra3");
  EXPECT_EQ(plan.links[3].server_side, "rb1");
  EXPECT_EQ(plan.links[3].source, "10.11.1.1");
  EXPECT_EQ(plan.links[3].target, "10.21.0.1");
}

TEST(LabPlan, AddressesIndexesAndPortsAreUnique) {
  const LabPlan plan = plan_of(Topology::full, 16);
  std::set<std::string> addresses, macs;
  std::set<unsigned> indexes;
  std::set<std::uint16_t> ports;
  std::size_t ends = 0;
  for (const PlannedNode& node : plan.nodes) {
    ports.insert(node.host_port);
    auto all = node.ends;
    all.insert(all.end(), node.lan.begin(), node.lan.end());
    for (const LinkEnd& end : all) {
      ++ends;
      addresses.insert(end.address);
      macs.insert(end.mac);
      indexes.insert(end.index);
      // Numbers of the kernel's own tables.
      EXPECT_LT(end.index, 253U);
    }
  }
  for (const PlannedMachine& machine : plan.machines) ports.insert(machine.ssh_port);
  EXPECT_EQ(addresses.size(), ends);
  EXPECT_EQ(macs.size(), ends);
  EXPECT_EQ(indexes.size(), ends);
  EXPECT_EQ(ports.size(), ports_needed(Topology::full, 16));
}

TEST(LabPlan, IsTheSameEveryTime) {
  const auto text = [](const LabPlan& plan) {
    std::string out;
    for (const PlannedMachine& machine : plan.machines) {
      for (const auto& argument : machine.arguments) out += argument + '\n';
      for (const auto& file : machine.files) out += file.path + '\n' + file.bytes;
    }
    return out;
  };
  EXPECT_EQ(text(plan_of(Topology::full)), text(plan_of(Topology::full)));
}

TEST(LabPlan, SystemsHaveADiskThatTheyMayRebootFromAndNothingOfLonghaul) {
  const LabPlan plan = plan_of(Topology::systems);
  ASSERT_EQ(plan.machines.size(), 3U);
  for (const PlannedMachine& machine : plan.machines) {
    EXPECT_THAT(machine.arguments, Contains("file=/cache/disk.ext4,if=none,id=disk,format=raw,snapshot=on"));
    EXPECT_THAT(machine.arguments, Not(Contains("-no-reboot")));
    EXPECT_EQ(file_of(machine, "/etc/hostname"), machine.name + "\n");
    for (const OverlayFile& file : machine.files)
      EXPECT_TRUE(file.path == "/etc/longhaul/node/" + machine.name || !file.path.starts_with("/etc/longhaul"))
          << file.path;
  }
  const auto& router = plan.machine_of(*plan.find("router"));
  EXPECT_EQ(file_of(router, "/etc/systemd/network/10-rb0.network"),
            "[Match]\nName=rb0\n\n[Network]\nAddress=10.20.0.254/24\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n");
  EXPECT_EQ(file_of(router, "/etc/systemd/network/10-rb0.link"),
            "[Match]\nMACAddress=02:6c:68:00:02:c9\n\n[Link]\nName=rb0\nMTUBytes=1500\n");
  // The agent listens at the address where it is found.
  for (const PlannedNode& node : plan.nodes) EXPECT_EQ(node.guest_port, node.host_port);
}

TEST(Inventory, OfSystemsTellsAnsibleTheWay) {
  const auto text = make_inventory(
      plan_of(Topology::systems), {.ca = "pki/ca.pem", .directory = "/run/l", .program_dir = "/src/build/release/bin"});
  for (const auto* line :
       {"    ansible_ssh_private_key_file: \"/run/l/id_ed25519\"\n",
        "    longhaul_program: \"/src/build/release/bin/longhaul\"\n",
        "    longhaul_packages: \"/src/build/release/packages\"\n", "    longhaul_controllers: [10.0.2.2]\n",
        "    controllers:\n      hosts:\n        localhost:\n",
        "          longhaul_port: 50001\n          ansible_port: 50005\n",
        "device: rxe_a0, provider: rxe, gateway: 10.10.0.254}\n", "device: rxe_c0, provider: rxe}\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Inventory, Golden) {
  EXPECT_EQ(make_inventory(plan_of(Topology::compact),
                           {.emulated = true, .ca = "/pki/ca.pem", .cert = "/pki/c \"1\".pem", .key = ""}),
            R"(# Written by longhaul lab up.
all:
  vars:
    longhaul_topology: compact
    longhaul_emulated: true
    longhaul_ca: "/pki/ca.pem"
    longhaul_cert: "/pki/c \"1\".pem"
    longhaul_key: ""
  children:
    clients:
      hosts:
        client:
          ansible_host: 127.0.0.1
          longhaul_port: 50001
          longhaul_attachments:
            - {path: wan, netdev: a0, address: 10.10.0.1, device: rxe_a0, provider: rxe}
            - {path: wan, netdev: a1, address: 10.11.0.1, device: siw_a1, provider: siw}
            - {path: lan, netdev: c0, address: 10.30.0.1, device: rxe_c0, provider: rxe}
            - {path: lan, netdev: c1, address: 10.31.0.1, device: siw_c1, provider: siw}
    servers:
      hosts:
        server:
          ansible_host: 127.0.0.1
          longhaul_port: 50002
          longhaul_attachments:
            - {path: wan, netdev: b0, address: 10.20.0.1, device: rxe_b0, provider: rxe}
            - {path: wan, netdev: b1, address: 10.21.0.1, device: siw_b1, provider: siw}
            - {path: lan, netdev: d0, address: 10.30.0.2, device: rxe_d0, provider: rxe}
            - {path: lan, netdev: d1, address: 10.31.0.2, device: siw_d1, provider: siw}
    routers:
      hosts:
        router:
          ansible_host: 127.0.0.1
          longhaul_port: 50003
          longhaul_links:
            - {client_side: ra0, server_side: rb0}
            - {client_side: ra1, server_side: rb1}
)");
}

}  // namespace
}  // namespace longhaul::lab
