// A TCP port of this machine that nobody listens on.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "common/error.hh"
#include "common/fd.hh"

namespace longhaul::testing {

inline std::uint16_t free_port() {
  const OwnFd probe{check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "create a socket")};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  check(::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size), "bind a socket");
  check(::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size), "name a socket");
  return ntohs(address.sin_port);
}

}  // namespace longhaul::testing
