// compare.html: two campaigns as a page, with the second's figures as multiples of the first's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/analyses/compare/compare.hh"

namespace longhaul::results {

/// Pure.
std::string comparison_page(const Comparison& comparison, const Vocabulary& vocabulary);

/// Writes compare.html and compare.json into `directory`, which it makes; returns their paths.
Result<std::vector<std::filesystem::path>> write_comparison(const std::filesystem::path& directory,
                                                            const Comparison& comparison, const Vocabulary& vocabulary);

}  // namespace longhaul::results
