#include "observe/small_file.hh"

#include <fcntl.h>
#include <unistd.h>

#include "common/fd.hh"

namespace longhaul::observe {

std::optional<std::string> small_file(const std::string& path) {
  const OwnFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return {};
  std::string text(65536, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto n = ::read(fd.get(), text.data() + size, text.size() - size);
    if (n < 0) return {};
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  text.resize(size);
  text.erase(text.find_last_not_of(" \t\n") + 1);  // npos + 1 is 0: nothing but white space
  return text;
}

}  // namespace longhaul::observe
