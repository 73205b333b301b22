// Replaces a file whole or not at all.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "common/result.hh"

namespace longhaul {

/// Writes a new file beside `path`, syncs it and renames it over `path`: who reads it finds the old text or the new
/// one, also after a crash, and when two write at once. `mode`: its exact permission bits, which the new file never
/// exceeds; without: 0644 less the umask. A symbolic link is followed nowhere: one in the place of `path` is replaced
/// itself, one in the place of the new file is refused. The error names the file, errno's text and a remedy; `path` is
/// then as it was and nothing of ours is left beside it.
Result<void> replace_file(const std::filesystem::path& path, std::string_view text, std::optional<mode_t> mode = {});

}  // namespace longhaul
