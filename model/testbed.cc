#include "model/testbed.hh"

#include <tuple>

#include "model/codec.hh"

namespace longhaul {
namespace {

struct AttachmentVars {
  std::string path, netdev, address;
  std::optional<std::string> device, provider;  // none: for sockets alone
};
BOOST_DESCRIBE_STRUCT(AttachmentVars, (), (path, netdev, address, device, provider))

struct HostVars {
  std::optional<std::string> ansible_host;  // none, and no port: no agent is there yet
  std::optional<std::uint16_t> longhaul_port;
  std::vector<AttachmentVars> longhaul_attachments;
  std::vector<RouterLink> longhaul_links;
};
BOOST_DESCRIBE_STRUCT(HostVars, (), (ansible_host, longhaul_port, longhaul_attachments, longhaul_links))

struct Group {
  std::map<std::string, HostVars> hosts;
};
BOOST_DESCRIBE_STRUCT(Group, (), (hosts))

// Whoever else is in the inventory (controllers, monitoring) is not asked for what nodes have.
struct Groups {
  std::optional<Group> clients, servers, routers;
};
BOOST_DESCRIBE_STRUCT(Groups, (), (clients, servers, routers))

struct Vars {
  std::optional<std::string> longhaul_topology;
  std::optional<bool> longhaul_emulated;
  std::optional<std::string> longhaul_ca;
  std::optional<std::string> longhaul_cert;
  std::optional<std::string> longhaul_key;
};
BOOST_DESCRIBE_STRUCT(Vars, (), (longhaul_topology, longhaul_emulated, longhaul_ca, longhaul_cert, longhaul_key))

struct All {
  std::optional<Vars> vars;
  Groups children;
};
BOOST_DESCRIBE_STRUCT(All, (), (vars, children))

struct Inventory {
  All all;
};
BOOST_DESCRIBE_STRUCT(Inventory, (), (all))

}  // namespace

const Node* Testbed::find(const std::string& name) const {
  for (const auto& node : nodes)
    if (node.name == name) return &node;
  return nullptr;
}

std::vector<const Node*> Testbed::with_role(Role role) const {
  std::vector<const Node*> result;
  for (const auto& node : nodes)
    if (node.role == role) result.push_back(&node);
  return result;
}

Result<Attachment> find_attachment(const Node& node, const std::string& path, const std::string& provider) {
  std::string there;
  for (const auto& attachment : node.attachments) {
    if (attachment.path == path && attachment.provider == provider) return attachment;
    there += fmt::format("{}{} on {} ({})", there.empty() ? "" : ", ",
                         attachment.provider.empty() ? "no device" : attachment.provider, attachment.netdev,
                         attachment.path);
  }
  return refuse("node {} has no {} device on path {}; it has: {}", node.name, provider, path,
                there.empty() ? "nothing" : there);
}

Result<Testbed> testbed_from_inventory(std::string_view inventory_json) {
  const auto inventory = codec::parse<Inventory>(inventory_json);
  if (!inventory) return tl::unexpected(inventory.error());
  Testbed testbed;
  const auto vars = inventory->all.vars.value_or(Vars{});
  testbed.topology = vars.longhaul_topology.value_or("cluster");
  testbed.emulated = vars.longhaul_emulated.value_or(false);
  testbed.ca = vars.longhaul_ca.value_or("");
  testbed.cert = vars.longhaul_cert.value_or("");
  testbed.key = vars.longhaul_key.value_or("");
  const auto& children = inventory->all.children;
  const std::tuple<const char*, const std::optional<Group>*, Role> groups[] = {
      {"clients", &children.clients, Role::client},
      {"servers", &children.servers, Role::server},
      {"routers", &children.routers, Role::router}};
  for (const auto& [name_of_group, group, role] : groups) {
    if (!*group || (*group)->hosts.empty()) {
      if (role == Role::router) continue;  // a LAN has none
      return refuse("inventory: group '{}' is missing or empty", name_of_group);
    }
    for (const auto& [name, host] : (*group)->hosts) {
      if (testbed.find(name) != nullptr) return refuse("inventory: host {} is in two groups", name);
      Node node{.name = name,
                .role = role,
                .host = host.ansible_host.value_or(""),
                .port = host.longhaul_port.value_or(0),
                .attachments = {},
                .links = host.longhaul_links};
      for (const auto& one : host.longhaul_attachments)
        node.attachments.push_back(
            {one.path, one.netdev, one.address, one.device.value_or(""), one.provider.value_or("")});
      testbed.nodes.push_back(std::move(node));
    }
  }
  return testbed;
}

std::string to_json(const Testbed& testbed) {
  return codec::serialize(testbed);
}

Result<Testbed> testbed_from_json(std::string_view text) {
  return codec::parse<Testbed>(text);
}

}  // namespace longhaul
