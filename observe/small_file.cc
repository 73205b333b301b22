#include "observe/small_file.hh"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "common/fd.hh"

namespace longhaul::observe {

namespace {
constexpr std::size_t kMaxFile = 65536;
}

std::optional<std::string> small_file(const std::string& path) {
  const OwnFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return {};
  // On the stack: a fresh page for each of dozens of files is slow on an emulated processor.
  std::array<char, 4096> buffer;
  std::string text;
  while (text.size() < kMaxFile) {
    const auto n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0) return {};
    if (n == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  text.erase(text.find_last_not_of(" \t\n") + 1);  // npos + 1 is 0: nothing but white space
  return text;
}

}  // namespace longhaul::observe
