// TCP ports of this machine that nobody listens on.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <random>
#include <vector>

#include "common/error.hh"
#include "common/fd.hh"

namespace longhaul::testing {

/// Each another one. Not of those that the kernel gives to whoever asks for any port (from 32768 on, ip(7)): another
/// program's connection may have got such a one before it is listened on.
inline std::vector<std::uint16_t> free_ports(std::size_t count) {
  std::random_device random;
  std::uniform_int_distribution<int> any{10000, 32000};
  std::vector<std::uint16_t> ports;
  while (ports.size() < count) {
    const auto port = static_cast<std::uint16_t>(any(random));
    if (std::find(ports.begin(), ports.end(), port) != ports.end()) continue;
    const OwnFd socket{check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "create a socket")};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    address.sin_port = htons(port);
    const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (bound < 0 && errno == EADDRINUSE) continue;
    check(bound, "bind a socket");
    ports.push_back(port);
  }
  return ports;
}

inline std::uint16_t free_port() {
  return free_ports(1).front();
}

}  // namespace longhaul::testing
