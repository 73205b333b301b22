#include "workloads/transport/address.hh"

#include <arpa/inet.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netdb.h>

#include <charconv>
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

SocketAddress from_sockaddr(const sockaddr* address) {
  SocketAddress result;
  result.length = address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&result.storage, address, result.length);
  return result;
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
  return from_sockaddr(reinterpret_cast<const sockaddr*>(&v4));
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
  HostPort result;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return refuse("'{}': the ']' of the IPv6 address is missing", text);
    result.host = text.substr(1, close - 1);
    const auto rest = text.substr(close + 1);
    has_port = rest.starts_with(':');
    if (!rest.empty() && !has_port) return refuse("'{}': expected [ADDRESS]:PORT", text);
    if (has_port) port = rest.substr(1);
  } else if (const auto colon = text.find(':');
             colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos) {
    has_port = true;
    result.host = text.substr(0, colon);
    port = text.substr(colon + 1);
  } else {
    result.host = text;
  }
  if (result.host.empty()) return refuse("'{}': the host is missing; expected HOST or HOST:PORT", text);
  if (has_port) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), result.port);
    if (error != std::errc{} || end != port.data() + port.size() || result.port == 0)
      return refuse("'{}': expected a port from 1 to 65535, got '{}'", text, port);
  }
  return result;
}

std::uint16_t SocketAddress::port() const {
  return ntohs(family() == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(storage).sin6_port
                                    : reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

void SocketAddress::set_port(std::uint16_t port) {
  (family() == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(storage).sin6_port
                        : reinterpret_cast<sockaddr_in&>(storage).sin_port) = htons(port);
}

std::string SocketAddress::host() const {
  char text[INET6_ADDRSTRLEN] = "?";
  const void* bytes = family() == AF_INET6
                          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr)
                          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(storage).sin_addr);
  ::inet_ntop(family(), bytes, text, sizeof text);
  return text;
}

std::string SocketAddress::text() const {
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host(), port()) : fmt::format("{}:{}", host(), port());
}

Result<SocketAddress> resolve(const std::string& host, std::uint16_t port, int family) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) return refuse("'{}': {}; give a name or a numeric address", host, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{list, &::freeaddrinfo};
  auto address = from_sockaddr(list->ai_addr);
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
      from_sockaddr(probe >= 0 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4));
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
    if (same_host(from_sockaddr(entry->ifa_addr), address)) return entry->ifa_name;
  }
  return {};
}

Result<SocketAddress> address_of_netdev(const std::string& netdev) {
  const auto list = interfaces();
  std::set<std::string> names;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const auto* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family) continue;
      if (entry->ifa_name == netdev) return from_sockaddr(entry->ifa_addr);
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
