// A campaign understood: every word checked against the specs of what it names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/parameter.hh"
#include "orchestrator/campaign/file.hh"

namespace longhaul::orchestrator {

/// The words of a campaign: the axes that every cell has, degen's, and the workloads.
struct Vocabulary {
  std::vector<ParameterSpec> common;
  std::vector<ParameterSpec> impairment;
  std::vector<WorkloadSpec> workloads;
};

/// The rule of repetition of a cell: min times, then until the half width of its median's 95 % interval is at most
/// `precision` of the median, at most max times.
struct RepeatRule {
  int min = 6;
  int max = 6;
  std::optional<double> precision;
};

/// Fixed axes of one curve in the comparison.
struct Series {
  FilePosition place;
  Parameters parameters;
};

struct Axis {
  std::string name;
  std::vector<Value> values;
};

inline constexpr std::int64_t kDefaultMaxCells = 10'000;
inline constexpr std::int64_t kLargestMaxCells = 100'000;

/// A workload and what is swept over it.
struct Experiment {
  FilePosition place;
  WorkloadSpec workload;
  std::vector<ParameterSpec> specs;  ///< of all axes that it may have: common, impairment, workload
  std::vector<Series> series;        ///< at least one
  std::vector<Axis> axes;
  Parameters fixed;
};

struct Campaign {
  CampaignFile file;
  std::string name;
  std::string description;
  std::vector<Experiment> experiments;  ///< at least one
  RepeatRule repeat;
  std::int64_t max_cells = kDefaultMaxCells;
};

/// Checks every word: axes exist and are given once (of series, axes, fixed), values have the right unit and range and
/// do not repeat, the repeat rule makes sense. The error begins with "path:line:column: ".
Result<Campaign> understand(CampaignFile file, const Vocabulary& vocabulary);

}  // namespace longhaul::orchestrator
