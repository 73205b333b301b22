// history.html: how a workload's figures moved from campaign to campaign, as a page.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/analyses/history/history.hh"

namespace longhaul::results {

/// Pure.
std::string history_page(const History& history, const Vocabulary& vocabulary);

/// Writes history.html and history.json into `directory`, which it makes; returns their paths.
Result<std::vector<std::filesystem::path>> write_history(const std::filesystem::path& directory, const History& history,
                                                         const Vocabulary& vocabulary);

}  // namespace longhaul::results
