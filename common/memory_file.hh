// Files that are in memory alone.
#pragma once

#include <string>
#include <string_view>

#include "common/fd.hh"

namespace longhaul {

/// A file without a place in any folder, mode 0600, that goes with its last descriptor (memfd_create(2)). Others of
/// this process open it by own_path(). Throws std::system_error.
OwnFd memory_file(const char* name, std::string_view bytes = {});

/// Where this process finds a descriptor's file: "/proc/self/fd/7".
std::string own_path(const OwnFd& file);

/// What is in a file, whatever its offset, at most its first `most` bytes. Throws std::system_error.
std::string file_content(int fd, std::size_t most = std::string::npos);

}  // namespace longhaul
