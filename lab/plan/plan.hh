// The plan of a lab: machines, nodes, links, the files of each guest. Data only: lab/plan/topology decides it,
// lab/plan/guest says what runs in a machine, lab/boot carries it out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/testbed.hh"

namespace longhaul::lab {

/// compact: one VM, the router is a network namespace in it. full: one VM a node. systems: one VM a node, each a bare
/// Debian system with systemd and sshd, which the Ansible collection makes a testbed of as it does any cluster.
enum class Topology { automatic, compact, full, systems };
std::string_view to_string(Topology topology);

/// Processors of a sealed lab, which is compact: for clients, the server, the router and degen.
inline constexpr unsigned kSealedProcessors = 4;

/// The agents' user in the guests.
inline constexpr std::uint32_t kAgentUid = 1000;

/// A file for the guests. `path` is absolute.
struct OverlayFile {
  std::string path;
  std::string bytes;
  std::uint32_t mode = 0600;
  std::uint32_t uid = kAgentUid;
};

/// The two kinds of RDMA that every end node has, each on an interface and in a subnet of its own: with both on one
/// netdev rdma_cm takes whichever was created first. At the other end of the wire is the router, or, on a LAN, the
/// peer.
struct LinkEnd {
  std::string netdev;          ///< a0; the router's end is r + netdev
  std::string address;         ///< 10.10.0.1
  std::string router_address;  ///< 10.10.0.254; on a LAN the peer's
  std::string device;          ///< rxe_a0
  std::string provider;        ///< rxe, siw
  std::string mac, router_mac;
  unsigned index = 0;  ///< ifindex in compact, routing table too: unique in the lab
  std::string router_netdev() const { return "r" + netdev; }
};

struct PlannedNode {
  std::string name;
  Role role = Role::client;
  std::vector<LinkEnd> ends;     ///< rxe, siw; none on the router
  std::vector<LinkEnd> lan;      ///< the same, straight to the other: the first client and the server only
  std::string guest_address;     ///< where the user network delivers its control connections
  std::uint16_t guest_port = 0;  ///< its agent listens here
  std::uint16_t host_port = 0;   ///< forwarded from 127.0.0.1
  std::string machine;           ///< the VM that it lives in
};

struct PlannedMachine {
  std::string name;
  unsigned processors = 1;
  std::uint16_t ssh_port = 0;          ///< forwarded from 127.0.0.1 to its port 22
  std::vector<std::string> arguments;  ///< QEMU's; accelerator, kernel and initrd are added by the caller
  std::vector<std::string> listens;    ///< unix sockets that exist once it runs: those that start later connect to them
  std::vector<OverlayFile> files;      ///< written for this VM alone: /etc/longhaul/setup, /etc/inittab ...
};

/// A measured path through the router: its two interfaces.
struct PlannedLink {
  std::string client_side;
  std::string server_side;
  std::string source, target;  ///< addresses of the ends
};

struct LabPlan {
  Topology topology = Topology::compact;
  std::vector<PlannedNode> nodes;        ///< clients, server, router
  std::vector<PlannedMachine> machines;  ///< in the order to start them
  std::vector<PlannedLink> links;        ///< every client's attachments, each against the server's of the same kind
  const PlannedNode* find(std::string_view name) const;
  const PlannedMachine& machine_of(const PlannedNode& node) const;
};

}  // namespace longhaul::lab
