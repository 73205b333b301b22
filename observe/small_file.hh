// Files of /proc and /sys.
#pragma once

#include <optional>
#include <string>

namespace longhaul::observe {

/// The first 64 KiB of a file without white space at the end; empty when it cannot be read (some attributes of sysfs
/// exist and refuse).
std::optional<std::string> small_file(const std::string& path);

}  // namespace longhaul::observe
