#include "lab/plan/inventory.hh"

#include <fmt/format.h>

#include <filesystem>

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
  const bool systems = plan.topology == Topology::systems;
  if (systems) out += fmt::format("          ansible_port: {}\n", plan.machine_of(node).ssh_port);
  if (!node.ends.empty()) out += "          longhaul_attachments:\n";
  const auto add = [&](const std::string& path, const std::vector<LinkEnd>& ends) {
    for (const LinkEnd& end : ends) {
      const auto gateway = systems && path == "wan" ? fmt::format(", gateway: {}", end.router_address) : "";
      out += fmt::format("            - {{path: {}, netdev: {}, address: {}, device: {}, provider: {}{}}}\n", path,
                         end.netdev, end.address, end.device, end.provider, gateway);
    }
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

/// What Ansible needs to reach bare systems, and the collection to make a testbed of them.
std::string system_vars(const InventoryOptions& options) {
  return fmt::format("    ansible_user: root\n    ansible_ssh_private_key_file: {}\n",
                     quoted(options.directory + "/id_ed25519")) +
         fmt::format("    ansible_ssh_common_args: {}\n",
                     quoted(fmt::format("-o UserKnownHostsFile={}/home/.ssh/known_hosts -o HostKeyAlias=127.0.0.1",
                                        options.directory))) +
         "    ansible_python_interpreter: /usr/bin/python3\n" +
         fmt::format("    longhaul_program: {}\n    longhaul_packages: {}\n", quoted(options.program_dir + "/longhaul"),
                     quoted(std::filesystem::path{options.program_dir}.parent_path() / "packages")) +
         "    # These systems reach no time server.\n    longhaul_require_clock_sync: false\n";
}

constexpr const char* kControllers =
    "    controllers:\n      hosts:\n        localhost:\n          ansible_connection: local\n"
    "          ansible_python_interpreter: \"{{ ansible_playbook_python }}\"\n";

}  // namespace

std::string make_inventory(const Plan& plan, const InventoryOptions& options) {
  std::string out = "# Written by longhaul lab up.\nall:\n  vars:\n";
  out +=
      fmt::format("    longhaul_topology: {}\n    longhaul_emulated: {}\n", to_string(plan.topology), options.emulated);
  out += fmt::format("    longhaul_ca: {}\n    longhaul_cert: {}\n    longhaul_key: {}\n", quoted(options.ca),
                     quoted(options.cert), quoted(options.key));
  const bool systems = plan.topology == Topology::systems;
  if (systems) out += system_vars(options);
  out += "  children:\n";
  if (systems) out += kControllers;
  return out + group(plan, "clients", Role::client) + group(plan, "servers", Role::server) +
         group(plan, "routers", Role::router);
}

}  // namespace longhaul::lab
