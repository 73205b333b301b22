// HOST:PORT as people write it, and numeric socket addresses.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.hh"

namespace longhaul {

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const HostPort&) const = default;
};

/// "host", "host:port", "[v6]:port" or a bare IPv6 address. `fallback`: the port where none is given; empty: one must
/// be. Ports below `least` are refused. The error names the text and what was expected.
Result<HostPort> parse_host_port(std::string_view text, std::optional<std::uint16_t> fallback, std::uint16_t least = 1);

/// "10.0.0.1:7470", "[::1]:7470": what parse_host_port reads.
std::string to_text(const HostPort& at);

/// An IPv4 or IPv6 socket address.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  /// `address` is one of IPv4 or of IPv6.
  static SocketAddress of(const sockaddr* address);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  std::uint16_t port() const;
  void set_port(std::uint16_t port);
  std::string host() const;  ///< numeric, without an interface
  std::string text() const;  ///< "10.0.0.1:7470", "[::1]:7470"
};

/// Reads a numeric IPv4 or IPv6 address (with %interface where it is link-local). Never asks a resolver.
Result<SocketAddress> parse_address(const std::string& text, std::uint16_t port);

}  // namespace longhaul
