#include "common/memory_file.hh"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.hh"

namespace longhaul {

OwnFd memory_file(const char* name, std::string_view bytes) {
  OwnFd file{check(::memfd_create(name, MFD_CLOEXEC), "making a file in memory")};
  check(::fchmod(file.get(), 0600), "making a file in memory");
  write_all(file.get(), bytes, "writing a file in memory");
  return file;
}

std::string own_path(const OwnFd& file) {
  return fmt::format("/proc/self/fd/{}", file.get());
}

std::string file_content(int fd, std::size_t most) {
  std::string text;
  char buffer[65536];
  while (text.size() < most) {
    const auto got = ::pread(fd, buffer, std::min(sizeof buffer, most - text.size()), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (check(got, "reading a file") == 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace longhaul
