// Numeric socket addresses.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "common/result.hh"

namespace longhaul::observe {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Reads a numeric IPv4 or IPv6 address (with %interface where it is link-local). Never asks a resolver.
Result<SocketAddress> parse_address(const std::string& text, std::uint16_t port);

}  // namespace longhaul::observe
