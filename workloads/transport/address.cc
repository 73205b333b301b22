#include "workloads/transport/address.hh"

#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <set>

#include "common/error.hh"

namespace longhaul::workloads {
namespace {

using Interfaces = std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)>;

Interfaces interfaces() {
  ifaddrs* list = nullptr;
  check(::getifaddrs(&list), "list this machine's addresses");
  return {list, &::freeifaddrs};
}

bool same_host(const SocketAddress& a, const SocketAddress& b) {
  return a.family() == b.family() && a.host() == b.host();
}

// An IPv4 peer of a dual-stack listener shows as ::ffff:a.b.c.d: rdma_cm and interface lists want plain IPv4.
SocketAddress unmapped(const SocketAddress& address) {
  if (address.family() != AF_INET6) return address;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
  if (!IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return address;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = v6.sin6_port;
  std::memcpy(&v4.sin_addr, v6.sin6_addr.s6_addr + 12, 4);
  return SocketAddress::of(reinterpret_cast<const sockaddr*>(&v4));
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
  return longhaul::parse_host_port(text, kDefaultPort);
}

Result<SocketAddress> resolve(const std::string& host, std::uint16_t port, int family) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) return refuse("'{}': {}; give a name or a numeric address", host, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{list, &::freeaddrinfo};
  auto address = SocketAddress::of(list->ai_addr);
  address.set_port(port);
  return address;
}

SocketAddress any_address(std::uint16_t port) {
  // Not a test of the sysctl: only the socket call knows whether this kernel has IPv6.
  const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe >= 0) ::close(probe);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  auto address =
      SocketAddress::of(probe >= 0 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4));
  address.set_port(port);
  return address;
}

SocketAddress local_address(int fd) {
  SocketAddress address;
  address.length = sizeof address.storage;
  check(::getsockname(fd, address.get(), &address.length), "read a socket's own address");
  return unmapped(address);
}

SocketAddress peer_address(int fd) {
  SocketAddress address;
  address.length = sizeof address.storage;
  check(::getpeername(fd, address.get(), &address.length), "read a socket's peer address");
  return unmapped(address);
}

std::string netdev_of(const SocketAddress& address) {
  const auto list = interfaces();
  for (const auto* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != address.family()) continue;
    if (same_host(SocketAddress::of(entry->ifa_addr), address)) return entry->ifa_name;
  }
  return {};
}

Result<SocketAddress> address_of_netdev(const std::string& netdev) {
  const auto list = interfaces();
  std::set<std::string> names;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const auto* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family) continue;
      if (entry->ifa_name == netdev) return SocketAddress::of(entry->ifa_addr);
      names.insert(entry->ifa_name);
    }
  }
  return refuse("no network interface '{}' with an address here; there are {}", netdev, fmt::join(names, ", "));
}

LinkFacts link_facts(const std::string& netdev) {
  LinkFacts facts;
  std::ifstream{"/sys/class/net/" + netdev + "/mtu"} >> facts.mtu;
  std::int64_t megabits = 0;
  std::ifstream{"/sys/class/net/" + netdev + "/speed"} >> megabits;  // -1 or an error where the link is down or unknown
  if (megabits > 0) facts.bits_per_second = megabits * 1'000'000;
  return facts;
}

}  // namespace longhaul::workloads
