// TCP ports of this machine that nobody listens on.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "common/error.hh"
#include "common/fd.hh"

namespace longhaul::testing {

/// Each another one: all are held until the last is found, for the kernel may well name a port again that is given
/// back.
inline std::vector<std::uint16_t> free_ports(std::size_t count) {
  std::vector<OwnFd> held;
  std::vector<std::uint16_t> ports;
  while (ports.size() < count) {
    held.emplace_back(check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "create a socket"));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    check(::bind(held.back().get(), reinterpret_cast<sockaddr*>(&address), size), "bind a socket");
    check(::getsockname(held.back().get(), reinterpret_cast<sockaddr*>(&address), &size), "name a socket");
    ports.push_back(ntohs(address.sin_port));
  }
  return ports;
}

inline std::uint16_t free_port() {
  return free_ports(1).front();
}

}  // namespace longhaul::testing
