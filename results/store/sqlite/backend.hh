// A campaign in the results.db of its run directory.
#pragma once

#include <filesystem>
#include <memory>

#include "results/store/backend.hh"
#include "results/store/mode.hh"

namespace longhaul::results {

/// One writer at a time, also across processes; readers may come and go meanwhile. WAL mode with synchronous=FULL.
/// `directory` must exist.
Result<std::unique_ptr<Backend>> open_sqlite(const std::filesystem::path& directory, OpenMode mode);

bool holds_sqlite(const std::filesystem::path& directory);

}  // namespace longhaul::results
