// Replaces a file whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/result.hh"

namespace longhaul {

/// Writes `path`.new beside it, syncs it and renames it over `path`. The error names the file, errno's text and a
/// remedy; `path` is then as it was and nothing is left beside it.
Result<void> replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace longhaul
