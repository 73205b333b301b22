#include "registration/preload/admission.hh"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "common/fd.hh"

namespace longhaul::registration {
namespace {

constexpr unsigned kRemote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr unsigned kKnown = kRemote | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING;

// The next word of a line; the words are apart by blanks.
std::string_view next(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto found = line.substr(0, line.find(' '));
  line.remove_prefix(found.size());
  return found;
}

bool number(std::string_view text, int base, std::uint64_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, base);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string_view word(Admission admission) {
  constexpr std::string_view words[kAdmissions] = {"keep",   "range",     "address", "flags", "remote",
                                                   "shared", "unwatched", "busy",    "fork"};
  return words[static_cast<std::size_t>(admission)];
}

Admission admit(std::uint64_t address, std::uint64_t length, std::uint64_t iova, unsigned access, bool remote) {
  if (address == 0 || length == 0 || length - 1 > std::numeric_limits<std::int64_t>::max() - address)
    return Admission::range;
  if (iova != address) return Admission::address;
  if ((access & ~kKnown) != 0) return Admission::flags;
  if ((access & kRemote) != 0 && !remote) return Admission::remote;
  return Admission::keep;
}

bool copies_registered_pages(std::string_view release) {
  const auto dot = release.find('.');
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  if (dot == std::string_view::npos || !number(release.substr(0, dot), 10, major)) return false;
  const auto rest = release.substr(dot + 1);
  if (!number(rest.substr(0, rest.find_first_not_of("0123456789")), 10, minor)) return false;
  return major > 5 || (major == 5 && minor >= 12);
}

// "7f00-7f10 rw-p 00000000 00:00 0    [heap]"
bool PrivateMemory::line(std::string_view line) {
  const auto range = next(line);
  const auto dash = range.find('-');
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  if (dash == std::string_view::npos || !number(range.substr(0, dash), 16, first) ||
      !number(range.substr(dash + 1), 16, end)) {
    refused_ = true;
    return false;
  }
  if (end <= at_) return true;
  const auto rights = next(line);
  next(line);  // offset
  next(line);  // device
  const auto inode = next(line);
  const auto name = next(line);
  refused_ = first > at_ || rights.size() != 4 || rights[3] != 'p' || inode != "0" || (!name.empty() && name[0] != '[');
  at_ = end;
  return !refused_ && at_ < end_;
}

bool is_private_memory(std::uint64_t first, std::uint64_t end) {
  // No allocation: its memory might be what is asked about.
  const OwnFd file{::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
  if (!file) return false;
  PrivateMemory memory{first, end};
  std::array<char, 8192> text;
  std::size_t size = 0;
  for (;;) {
    const auto got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got <= 0) return memory.yes();
    size += static_cast<std::size_t>(got);
    std::size_t done = 0;
    while (const auto* newline = static_cast<const char*>(std::memchr(text.data() + done, '\n', size - done))) {
      const auto length = static_cast<std::size_t>(newline - text.data()) - done;
      if (!memory.line({text.data() + done, length})) return memory.yes();
      done += length + 1;
    }
    if (done == 0) return false;  // a line longer than paths can be
    size -= done;
    std::memmove(text.data(), text.data() + done, size);
  }
}

}  // namespace longhaul::registration
