// Two campaigns, cell by cell: does the second agree with the first?
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"
#include "results/summary/summary.hh"

namespace longhaul::results {

/// One cell and metric that both campaigns have.
struct CellComparison {
  std::string cell_id;
  std::string workload;
  Parameters parameters;
  std::string metric;
  std::string unit;
  double first = 0;  ///< medians, base unit
  double second = 0;
  std::optional<Ratio> ratio;  ///< second / first
  std::optional<bool> agrees;  ///< its interval contains 1, all runs of both say the same, or (virtual clock) run by
                               ///< run; empty: too few runs to say
};

struct Comparison {
  std::string first;  ///< directory and campaign name
  std::string second;
  std::vector<CellComparison> cells;
  std::vector<std::string> only_first;  ///< cells (spelt) that the other has not, or has without a usable run
  std::vector<std::string> only_second;
  int agreeing = 0;
  int disagreeing = 0;
  int undecided = 0;
  int exact = 0;      ///< of all those that were measured by a virtual clock, processor time among them
  int identical = 0;  ///< and of these the ones whose runs give the same figures one by one
  /// Of the disagreeing ones, what chance alone gives on average at the intervals' level (5 % of the decided).
  double expected_by_chance = 0;
  std::vector<std::string> warnings;  ///< what makes the two hard to compare: other kernel, other device, emulation ...
};

Result<Comparison> compare(const std::filesystem::path& first, const std::filesystem::path& second,
                           const Vocabulary& vocabulary);
/// The same on summaries. Pure.
Comparison compare(const Summary& first, const Summary& second, const Vocabulary& vocabulary);

std::string to_text(const Comparison& comparison, const Vocabulary& vocabulary);
std::string to_json(const Comparison& comparison);

}  // namespace longhaul::results
