#include "lab/plan/inventory.hh"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "lab/plan/guest.hh"

namespace longhaul::lab {
namespace {

template <typename T>
void add(YAML::Emitter& out, const char* key, const T& value) {
  out << YAML::Key << key << YAML::Value << value;
}

/// Paths are the user's: quoted, whatever they hold.
void add_text(YAML::Emitter& out, const char* key, const std::string& text) {
  out << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << text;
}

void begin(YAML::Emitter& out, const std::string& key) {
  out << YAML::Key << key << YAML::Value << YAML::BeginMap;
}

void add_attachments(YAML::Emitter& out, const char* path, const std::vector<LinkEnd>& ends, bool gateway) {
  for (const LinkEnd& end : ends) {
    out << YAML::Flow << YAML::BeginMap;
    add(out, "path", path);
    add(out, "netdev", end.netdev);
    add(out, "address", end.address);
    add(out, "device", end.device);
    add(out, "provider", end.provider);
    if (gateway) add(out, "gateway", end.router_address);
    out << YAML::EndMap;
  }
}

void add_host(YAML::Emitter& out, const LabPlan& plan, const PlannedNode& node) {
  const bool systems = plan.topology == Topology::systems;
  begin(out, node.name);
  add(out, "ansible_host", "127.0.0.1");
  add(out, "longhaul_port", node.host_port);
  if (systems) add(out, "ansible_port", plan.machine_of(node).ssh_port);
  if (!node.ends.empty()) {
    out << YAML::Key << "longhaul_attachments" << YAML::Value << YAML::BeginSeq;
    add_attachments(out, "wan", node.ends, systems);
    add_attachments(out, "lan", node.lan, false);
    out << YAML::EndSeq;
  }
  if (node.role == Role::router) {
    out << YAML::Key << "longhaul_links" << YAML::Value << YAML::BeginSeq;
    for (const PlannedLink& link : plan.links) {
      out << YAML::Flow << YAML::BeginMap;
      add(out, "client_side", link.client_side);
      add(out, "server_side", link.server_side);
      out << YAML::EndMap;
    }
    out << YAML::EndSeq;
  }
  out << YAML::EndMap;
}

void add_group(YAML::Emitter& out, const LabPlan& plan, const char* name, Role role) {
  begin(out, name);
  begin(out, "hosts");
  for (const PlannedNode& node : plan.nodes)
    if (node.role == role) add_host(out, plan, node);
  out << YAML::EndMap << YAML::EndMap;
}

/// Variables with which Ansible reaches bare systems, and those of the collection that prepares them.
void add_system_vars(YAML::Emitter& out, const InventoryOptions& options) {
  add(out, "ansible_user", "root");
  add_text(out, "ansible_ssh_private_key_file", options.directory + "/id_ed25519");
  add_text(out, "ansible_ssh_common_args",
           fmt::format("-o UserKnownHostsFile={}/home/.ssh/known_hosts -o HostKeyAlias=127.0.0.1", options.directory));
  add(out, "ansible_python_interpreter", "/usr/bin/python3");
  add_text(out, "longhaul_program", options.program_dir + "/longhaul");
  add_text(out, "longhaul_packages", (std::filesystem::path{options.program_dir}.parent_path() / "packages").string());
  add(out, "longhaul_require_clock_sync", false);  // these systems reach no time server
  out << YAML::Key << "longhaul_controllers" << YAML::Value << YAML::Flow << YAML::BeginSeq << kHostAddress
      << YAML::EndSeq;
}

void add_controllers(YAML::Emitter& out) {
  begin(out, "controllers");
  begin(out, "hosts");
  begin(out, "localhost");
  add(out, "ansible_connection", "local");
  add_text(out, "ansible_python_interpreter", "{{ ansible_playbook_python }}");
  out << YAML::EndMap << YAML::EndMap << YAML::EndMap;
}

}  // namespace

std::string make_inventory(const LabPlan& plan, const InventoryOptions& options) {
  const bool systems = plan.topology == Topology::systems;
  YAML::Emitter out;
  out << YAML::Comment("Written by longhaul lab up.") << YAML::BeginMap;
  begin(out, "all");
  begin(out, "vars");
  add(out, "longhaul_topology", std::string{to_string(plan.topology)});
  add(out, "longhaul_emulated", options.emulated);
  add_text(out, "longhaul_ca", options.ca);
  add_text(out, "longhaul_cert", options.cert);
  add_text(out, "longhaul_key", options.key);
  if (systems) add_system_vars(out, options);
  out << YAML::EndMap;
  begin(out, "children");
  if (systems) add_controllers(out);
  add_group(out, plan, "clients", Role::client);
  add_group(out, plan, "servers", Role::server);
  add_group(out, plan, "routers", Role::router);
  out << YAML::EndMap << YAML::EndMap << YAML::EndMap;
  return std::string{out.c_str()} + "\n";
}

}  // namespace longhaul::lab
