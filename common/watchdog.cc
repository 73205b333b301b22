#include "common/watchdog.hh"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul {

Watchdog::Watchdog() {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  const std::string_view name{path};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = 0;  // abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  socket_ = OwnFd{check(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "create a unix socket")};
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return;
  log::warn("cannot reach the service manager at {}: {}", name, errno_text(errno));
  socket_.reset();
}

void Watchdog::beat() const {
  constexpr std::string_view kAlive = "WATCHDOG=1";
  if (socket_ && ::send(socket_.get(), kAlive.data(), kAlive.size(), MSG_NOSIGNAL) < 0)
    log::debug("the service manager does not hear: {}", errno_text(errno));
}

}  // namespace longhaul
