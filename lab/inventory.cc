#include "lab/inventory.hh"

#include <fmt/format.h>

namespace longhaul::lab {
namespace {

/// A double-quoted YAML scalar: paths are the user's.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string host(const Plan& plan, const PlannedNode& node) {
  std::string out = fmt::format("        {}:\n          ansible_host: 127.0.0.1\n          longhaul_port: {}\n",
                                node.name, node.host_port);
  if (!node.ends.empty()) out += "          longhaul_attachments:\n";
  const auto add = [&](const char* path, const std::vector<LinkEnd>& ends) {
    for (const LinkEnd& end : ends)
      out += fmt::format("            - {{path: {}, netdev: {}, address: {}, device: {}, provider: {}}}\n", path,
                         end.netdev, end.address, end.device, end.provider);
  };
  add("wan", node.ends);
  add("lan", node.lan);
  if (node.role == Role::router) {
    out += "          longhaul_links:\n";
    for (const PlannedLink& link : plan.links)
      out += fmt::format("            - {{client_side: {}, server_side: {}}}\n", link.client_side, link.server_side);
  }
  return out;
}

std::string group(const Plan& plan, const char* name, Role role) {
  std::string out = fmt::format("    {}:\n      hosts:\n", name);
  for (const PlannedNode& node : plan.nodes)
    if (node.role == role) out += host(plan, node);
  return out;
}

}  // namespace

std::string make_inventory(const Plan& plan, const InventoryOptions& options) {
  std::string out = "# Written by longhaul lab up.\nall:\n  vars:\n";
  out +=
      fmt::format("    longhaul_topology: {}\n    longhaul_emulated: {}\n", to_string(plan.topology), options.emulated);
  out += fmt::format("    longhaul_ca: {}\n    longhaul_cert: {}\n    longhaul_key: {}\n", quoted(options.ca),
                     quoted(options.cert), quoted(options.key));
  out += "  children:\n";
  return out + group(plan, "clients", Role::client) + group(plan, "servers", Role::server) +
         group(plan, "routers", Role::router);
}

}  // namespace longhaul::lab
