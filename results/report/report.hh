// The files that show a campaign: report.html, cells.csv, claims.json. Made from DIR/results.db at any time, also of
// an unfinished campaign.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.hh"
#include "results/report/analysis.hh"

namespace longhaul::results {

/// The files that were written.
struct Written {
  std::vector<std::filesystem::path> files;
};

/// Writes all three. Each file is replaced by rename, so never half.
Result<Written> write_report(const std::filesystem::path& directory, const Analysis& analysis);

/// Only DIR/cells.csv, from DIR/results.db.
Result<Written> write_csv(const std::filesystem::path& directory, const Vocabulary& vocabulary);

/// The texts behind them. Pure.
std::string csv_of(const Summary& summary, const Vocabulary& vocabulary);
std::string page_of(const Analysis& analysis);
std::string claims_of(const Analysis& analysis);

/// A few lines for the terminal: per pair and size the ratio along the delay and the crossover. Pure.
std::string headline_of(const Analysis& analysis);
/// The same figures and the cells as one JSON document (`longhaul report --json`). Pure.
std::string json_of(const Analysis& analysis);

}  // namespace longhaul::results
