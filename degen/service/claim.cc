#include "degen/service/claim.hh"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>

#include "common/error.hh"

namespace longhaul::degen {
namespace {

constexpr std::chrono::milliseconds kPause{20};

}  // namespace

bool soon(std::chrono::milliseconds patience, const std::function<bool()>& attempt) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (attempt()) return true;
    const int error = errno;
    if (std::chrono::steady_clock::now() >= end) {
      errno = error;
      return false;
    }
    std::this_thread::sleep_for(kPause);
  }
}

Result<OwnFd> claim(const std::string& interface, std::chrono::milliseconds patience) {
  const auto name = "longhaul-degen/" + interface;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) throw_errno(fmt::format("claim {}", interface), ENAMETOOLONG);
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // behind a 0: abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  OwnFd fd{check(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "create a unix socket")};
  const auto bind = [&] { return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0; };
  if (soon(patience, bind)) return fd;
  if (errno != EADDRINUSE) throw_errno(fmt::format("claim {}", interface));
  return refuse("{}: another degen serves it; end that one, or leave the interface out", interface);
}

bool unclaimed(const std::string& interface) {
  return claim(interface).has_value();
}

}  // namespace longhaul::degen
