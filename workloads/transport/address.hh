// Addresses of this machine and of peers: names resolved, sockets asked, interfaces found.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/address.hh"

namespace longhaul::workloads {

inline constexpr std::uint16_t kDefaultPort = 7470;

/// parse_host_port with the port of longhaul-bench where none is given.
Result<HostPort> parse_host_port(std::string_view text);

/// Resolves a name or a numeric address. `family` AF_UNSPEC takes the first that there is.
Result<SocketAddress> resolve(const std::string& host, std::uint16_t port, int family = AF_UNSPEC);

/// Any address of this machine, IPv6 and IPv4 alike where there is IPv6.
SocketAddress any_address(std::uint16_t port);

SocketAddress local_address(int fd);
SocketAddress peer_address(int fd);

/// The network interface that has this address; empty when none has.
std::string netdev_of(const SocketAddress& address);

/// The first address of an interface, IPv4 before IPv6; an error lists the interfaces that have addresses.
Result<SocketAddress> address_of_netdev(const std::string& netdev);

/// MTU in bytes and speed of an interface from /sys/class/net; 0 where unknown.
struct LinkFacts {
  std::int64_t mtu = 0;
  std::int64_t bits_per_second = 0;
};
LinkFacts link_facts(const std::string& netdev);

}  // namespace longhaul::workloads
