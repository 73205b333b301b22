// A campaign in the results.db of its run directory.
#pragma once

#include <filesystem>
#include <memory>

#include "results/store/backend.hh"
#include "results/store/mode.hh"
#include "results/store/sqlite/medium.hh"

namespace longhaul::results {

/// One writer at a time, also across processes and, on a network's file system, machines; readers may come and go
/// meanwhile. synchronous=FULL. `directory` must exist.
Result<std::unique_ptr<Backend>> open_sqlite(const std::filesystem::path& directory, OpenMode mode);
/// The same where that is known.
Result<std::unique_ptr<Backend>> open_sqlite(const std::filesystem::path& directory, OpenMode mode, Medium medium);

bool holds_sqlite(const std::filesystem::path& directory);

}  // namespace longhaul::results
