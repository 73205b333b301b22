// Addresses: HOST[:PORT] as users write it, and sockaddr.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.hh"

namespace longhaul::workloads {

inline constexpr std::uint16_t kDefaultPort = 7470;

struct HostPort {
  std::string host;
  std::uint16_t port = kDefaultPort;
  bool operator==(const HostPort&) const = default;
};

/// "host", "host:port", "[v6]:port" or a bare IPv6 address.
Result<HostPort> parse_host_port(std::string_view text);

/// An IPv4 or IPv6 socket address.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  std::uint16_t port() const;
  void set_port(std::uint16_t port);
  std::string host() const;  ///< numeric
  std::string text() const;  ///< "10.0.0.1:7470", "[::1]:7470"
};

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
