// The owner of a file descriptor.
#pragma once

#include <string_view>
#include <utility>

namespace longhaul {

/// Closes its descriptor when it goes. Move-only; move assignment closes the old one. -1 means empty.
class OwnFd {
 public:
  OwnFd() noexcept = default;
  explicit OwnFd(int fd) noexcept : fd_(fd) {}
  OwnFd(OwnFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnFd& operator=(OwnFd&& other) noexcept;
  ~OwnFd();

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Gives the descriptor away; the caller closes it.
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

struct Pipe {
  OwnFd read_end;
  OwnFd write_end;
};

/// Closed on exec; `flags`: further ones of pipe2(2). Throws std::system_error.
Pipe make_pipe(int flags = 0);

/// Writes all of it. Throws std::system_error with what was attempted.
void write_all(int fd, std::string_view bytes, const char* attempted);

}  // namespace longhaul
