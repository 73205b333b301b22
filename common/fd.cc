#include "common/fd.hh"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul {

OwnFd& OwnFd::operator=(OwnFd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

OwnFd::~OwnFd() {
  reset();
}

void OwnFd::reset() noexcept {
  // EINTR from close means the descriptor is gone on Linux: closing again could hit another thread's.
  if (fd_ >= 0 && ::close(fd_) != 0 && errno != EINTR) {
    log::warn("closing descriptor {}: {}", fd_, errno_text(errno));
  }
  fd_ = -1;
}

Pipe make_pipe(int flags) {
  int ends[2];
  check(::pipe2(ends, O_CLOEXEC | flags), "making a pipe");
  return {OwnFd{ends[0]}, OwnFd{ends[1]}};
}

void write_all(int fd, std::string_view bytes, const char* attempted) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    bytes.remove_prefix(static_cast<std::size_t>(check(written, attempted)));
  }
}

}  // namespace longhaul
