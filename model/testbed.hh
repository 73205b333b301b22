// The testbed as an Ansible inventory tells it: who plays which role, attached where, reached how.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "common/result.hh"
#include "model/record.hh"

namespace longhaul {

/// An end node's interface to a measured path.
struct Attachment {
  std::string path;  ///< wan or lan
  std::string netdev;
  std::string address;   ///< IPv4 or IPv6, no prefix length
  std::string device;    ///< RDMA device on that netdev; empty: none
  std::string provider;  ///< of the device: rxe, siw, mlx5 ...; empty: none
};
BOOST_DESCRIBE_STRUCT(Attachment, (), (path, netdev, address, device, provider))

/// Two interfaces of the router between which it forwards.
struct RouterLink {
  std::string client_side;
  std::string server_side;
};
BOOST_DESCRIBE_STRUCT(RouterLink, (), (client_side, server_side))

struct Node {
  std::string name;
  Role role = Role::client;
  std::string host;  ///< control address
  std::uint16_t port = 0;
  std::vector<Attachment> attachments;  ///< end nodes
  std::vector<RouterLink> links;        ///< routers
};
BOOST_DESCRIBE_STRUCT(Node, (), (name, role, host, port, attachments, links))

struct Testbed {
  std::string topology;  ///< compact, full, cluster
  bool emulated = false;
  std::string ca;  ///< the controller's credentials: paths of PEM files
  std::string cert;
  std::string key;
  std::vector<Node> nodes;

  const Node* find(const std::string& name) const;
  std::vector<const Node*> with_role(Role role) const;
};
BOOST_DESCRIBE_STRUCT(Testbed, (), (topology, emulated, ca, cert, key, nodes))

/// The attachment of `node` on `path` whose device is `provider`'s; an error that lists what there is.
Result<Attachment> find_attachment(const Node& node, const std::string& path, const std::string& provider);

/// Reads an inventory given as JSON: the YAML inventory's own shape (all.children.clients.hosts...).
Result<Testbed> testbed_from_inventory(std::string_view inventory_json);

std::string to_json(const Testbed& testbed);
Result<Testbed> testbed_from_json(std::string_view text);

}  // namespace longhaul
