// Two campaigns, cell by cell: does the second agree with the first?
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/result.hh"
#include "results/summary/summary.hh"

namespace longhaul::results {

/// One figure, a metric of a cell, that both campaigns have.
struct FigureComparison {
  std::string cell_id;
  std::string workload;
  Parameters parameters;
  std::string side;  ///< what it ran on: "rdma over rxe", "tcp over rxe", "tcp"
  std::string metric;
  std::string unit;
  bool headline = false;  ///< its workload's first metric
  double first = 0;       ///< medians, base unit
  double second = 0;
  std::optional<Ratio> ratio;  ///< second / first
  bool paired = false;         ///< from pairs of runs that share their seed (virtual clock)
  /// Its interval contains 1, taken so wide that those of all the cell's figures hold at once in 95 %; or both say the
  /// same run by run (virtual clock), or in all runs. Empty: too few runs to say.
  std::optional<bool> agrees;
  bool constant = false;  ///< one value in all runs of both: no evidence
};

struct Comparison {
  std::string first;  ///< directory and campaign name
  std::string second;
  std::pair<std::string, std::string> kernels;  ///< releases, several with ", "; empty: unknown
  std::vector<FigureComparison> figures;
  std::vector<std::string> only_first;  ///< cells (spelt) that the other has not, or has without a usable run
  std::vector<std::string> only_second;
  // Cells, by the figures of theirs that are no detail and no constant.
  int agreeing = 0;     ///< all agree
  int disagreeing = 0;  ///< a figure differs
  int undecided = 0;    ///< none differs, of some there are too few runs to say
  int constant = 0;     ///< there is no such figure: not among those compared
  /// Of the disagreeing ones, what chance alone gives on average: at most 5 % of the decided.
  double expected_by_chance = 0;
  int paired = 0;                     ///< figures whose runs were compared in pairs
  int exact = 0;                      ///< figures that were measured by a virtual clock, processor time among them
  int identical = 0;                  ///< and of these the ones whose runs give the same one by one
  std::vector<std::string> warnings;  ///< what makes the two hard to compare: other kernel, other device, emulation ...
};

Result<Comparison> compare(const std::filesystem::path& first, const std::filesystem::path& second,
                           const Vocabulary& vocabulary);
/// What is not as it was: "kernel differs: 6.1 against 6.12" ...: kernel, processor, longhaul, topology. Pure.
std::vector<std::string> differences(const Summary& first, const Summary& second);

/// The same on summaries. Pure.
Comparison compare(const Summary& first, const Summary& second, const Vocabulary& vocabulary);

/// A figure in its metric's unit, as people read it.
std::string shown(double value, const std::string& unit);

std::string to_text(const Comparison& comparison, const Vocabulary& vocabulary);
std::string to_json(const Comparison& comparison);

}  // namespace longhaul::results
