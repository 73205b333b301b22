#include "registration/preload/housekeeper.hh"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::registration {
namespace {

void post(const OwnFd& event) {
  const std::uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

bool is_abandoned(const std::string& path, const sockaddr_un& address) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) < 0 || !S_ISSOCK(file.st_mode) || file.st_uid != ::geteuid()) return false;
  const OwnFd probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

Housekeeper::Housekeeper()
    : wake_(check(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "creating an eventfd")),
      stop_(check(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "creating an eventfd")) {}

Housekeeper::~Housekeeper() {
  post(stop_);
  if (thread_.joinable()) thread_.join();
  forget();
}

void Housekeeper::forget() const {
  if (!path_.empty()) ::unlink(path_.c_str());
}

void Housekeeper::wake() const {
  post(wake_);
}

Result<void> Housekeeper::listen(const std::string& path, std::function<std::string()> tell) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return refuse("LONGHAUL_CACHE_SOCKET: {} is longer than {} bytes", path, sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  OwnFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const auto bind = [&] { return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address); };
  if (::fchmod(socket.get(), 0600) < 0) return fail("LONGHAUL_CACHE_SOCKET: fchmod: {}", errno_text(errno));
  int bound = bind();
  if (bound < 0 && errno == EADDRINUSE && is_abandoned(path, address)) {
    ::unlink(path.c_str());
    bound = bind();
  }
  if (bound < 0 || ::listen(socket.get(), 8) < 0)
    return refuse("LONGHAUL_CACHE_SOCKET: {}: {}; name a file that is not there (%p is the process's number)", path,
                  errno_text(errno));
  socket_ = std::move(socket);
  path_ = path;
  tell_ = std::move(tell);
  return {};
}

void Housekeeper::start(std::function<void()> tidy) {
  tidy_ = std::move(tidy);
  thread_ = std::thread{[this] {
    pollfd fds[3] = {{wake_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
    for (;;) {
      if (::poll(fds, 3, -1) < 0) continue;  // EINTR
      if (fds[1].revents != 0) return;
      if (fds[0].revents != 0) {
        std::uint64_t times = 0;
        (void)!::read(wake_.get(), &times, sizeof times);
        tidy_();
      }
      if (fds[2].revents != 0) serve();
    }
  }};
}

void Housekeeper::serve() const {
  const OwnFd peer{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  if (!peer) return;
  // One that does not read does not hold us up.
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(peer.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const auto text = tell_();
  (void)!::send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace longhaul::registration
