#include "lab/plan/system_guest.hh"

#include <fmt/format.h>

#include <algorithm>

namespace longhaul::lab {
namespace {

/// One interface for systemd-networkd and udev, told by its MAC.
struct Wire {
  std::string netdev, mac, address;
  unsigned mtu = 1500;
};

std::vector<Wire> wires_of(const PlannedNode& node, const LabPlan& plan, unsigned mtu) {
  std::vector<Wire> wires{{.netdev = "mgmt", .mac = kControlMac, .address = node.guest_address}};
  if (node.role == Role::router)
    for (const PlannedNode& other : plan.nodes)
      for (const LinkEnd& end : other.ends)
        wires.push_back(
            {.netdev = end.router_netdev(), .mac = end.router_mac, .address = end.router_address, .mtu = mtu});
  for (const auto* ends : {&node.ends, &node.lan})
    for (const LinkEnd& end : *ends)
      wires.push_back({.netdev = end.netdev, .mac = end.mac, .address = end.address, .mtu = mtu});
  return wires;
}

/// systemd asks for one that is the machine's own; the lab's are told apart by their nodes.
std::string machine_id(const std::string& name) {
  std::string id;
  for (const char c : name) id += fmt::format("{:02x}", static_cast<unsigned char>(c));
  id.resize(32, '0');
  return id;
}

}  // namespace

std::vector<OverlayFile> system_files(const GuestView& view) {
  const auto& node = *std::ranges::find(view.plan->nodes, view.machine, &PlannedNode::machine);
  std::vector<OverlayFile> files;
  const auto add = [&](const std::string& path, std::string text, std::uint32_t mode = 0644) {
    files.push_back({.path = path, .bytes = std::move(text), .mode = mode, .uid = 0});
  };
  add("/etc/hostname", node.name + "\n");
  add("/etc/hosts", fmt::format("127.0.0.1 localhost\n127.0.1.1 {}\n", node.name));
  add("/etc/machine-id", machine_id(node.name) + "\n");
  for (const Wire& wire : wires_of(node, *view.plan, view.mtu)) {
    add(fmt::format("/etc/systemd/network/10-{}.link", wire.netdev),
        fmt::format("[Match]\nMACAddress={}\n\n[Link]\nName={}\nMTUBytes={}\n", wire.mac, wire.netdev, wire.mtu));
    add(fmt::format("/etc/systemd/network/10-{}.network", wire.netdev),
        fmt::format("[Match]\nName={}\n\n[Network]\nAddress={}/24\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n",
                    wire.netdev, wire.address));
  }
  add("/etc/longhaul/node/" + node.name, node_script(view, node), 0755);
  return files;
}

}  // namespace longhaul::lab
