// How a workload's figures moved from campaign to campaign, and what else changed between them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// A campaign and what it is called: its run directory, or its name in a store.
struct NamedSummary {
  std::string name;
  Summary summary;
};

/// A figure in one campaign, beside the last earlier campaign that has it.
struct HistoryPoint {
  std::string campaign;
  std::int64_t started = 0;  ///< CLOCK_REALTIME ns
  std::string version;       ///< of longhaul
  double median = 0;         ///< base unit
  std::optional<Interval> interval;
  std::size_t runs = 0;
  std::optional<Ratio> ratio;        ///< this / the earlier; empty: it is the first
  std::optional<bool> agrees;        ///< as FigureComparison's
  std::vector<std::string> changed;  ///< what is not as then: "kernel differs: 6.1 against 6.12" ...
};

/// One metric of one cell.
struct CellHistory {
  std::string cell_id;
  Parameters parameters;
  std::string metric;
  std::string unit;
  std::vector<HistoryPoint> points;  ///< by the time when their campaigns began
};

struct History {
  std::string workload;
  std::vector<CellHistory> cells;  ///< that at least one campaign has, in the order of their first appearance
};

/// `metric` empty: the workload's headline. Pure.
History history(std::vector<NamedSummary> campaigns, const std::string& workload, const std::string& metric,
                const Vocabulary& vocabulary);

std::string to_text(const History& history, const Vocabulary& vocabulary);
std::string to_json(const History& history);

}  // namespace longhaul::results
