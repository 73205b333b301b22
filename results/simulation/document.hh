// simulate.json, read back: what `longhaul-bench simulate` left in a directory. Heavy to include: .cc only.
#pragma once

#include <boost/json.hpp>

#include <filesystem>
#include <string_view>

#include "common/result.hh"

namespace longhaul::results {

/// Refuses what is no JSON, no simulation, and another version's.
Result<boost::json::value> parse_simulation(std::string_view document);

/// DIR/simulate.json. Errors name it.
Result<boost::json::value> read_simulation(const std::filesystem::path& directory);

}  // namespace longhaul::results
