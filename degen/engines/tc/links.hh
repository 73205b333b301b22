// The machine's network interfaces as they stand to each other: which is a port of which, which lies on which.
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"

namespace longhaul::degen {

struct NetworkLink {
  int index = 0;
  std::string name;
  bool up = false;
  bool loopback = false;
  int master = 0;           ///< of a port: the interface that it belongs to (a bridge, a bond); 0: none
  int below = 0;            ///< the one that it lies on (a VLAN's); 0: none
  std::string port_kind{};  ///< of a port: "bridge", "bond" ...
};

std::vector<std::byte> dump_links_message();

/// Empty when the message is not about a link, or damaged.
std::optional<NetworkLink> parse_link(const nlmsghdr& message);

/// Those of this network namespace. Throws std::system_error.
std::vector<NetworkLink> network_links();

/// The interfaces by which what comes in by this one can leave, and the other way round: of a bridge's port the other
/// ports, else all that are up and no ports themselves. Refuses where there is none, and where one lies on another, for
/// a packet would be impaired on both. Pure.
Result<std::vector<std::string>> others_of(const std::string& interface, const std::vector<NetworkLink>& links);

}  // namespace longhaul::degen
