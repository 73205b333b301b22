// simulate.html: what `longhaul-bench simulate --out` wrote, as a page with the MRRC paper's figures.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.hh"

namespace longhaul::results {

/// The page for a document that is simulate.json's. Pure. Refuses what is none.
Result<std::string> simulation_page(std::string_view document);

/// Reads DIR/simulate.json, writes DIR/simulate.html and returns its path.
Result<std::filesystem::path> write_simulation_page(const std::filesystem::path& directory);

}  // namespace longhaul::results
