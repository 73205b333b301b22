// What faults of single packets did to runs: an exploration's cells beside the same cell without a fault. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/record.hh"
#include "results/summary/vocabulary.hh"

namespace longhaul::results {

/// One run with faults.
struct FaultOutcome {
  std::string forward;  ///< the axis faults: "drop 17"; "count": none that way
  std::string back;
  Status status = Status::ok;
  std::string message;            ///< why it is not ok
  std::int64_t longer = 0;        ///< the whole run against the one without faults, ns
  std::optional<double> slowest;  ///< of the headline metric's samples, its base unit
};

/// One cell.
struct Exploration {
  std::string workload;
  Parameters parameters;                ///< without faults
  std::uint64_t forward = 0, back = 0;  ///< packets of the run without faults
  std::int64_t took = 0;                ///< that run, ns
  std::string metric, unit;             ///< the headline
  std::optional<double> slowest;        ///< of that run
  std::vector<FaultOutcome> outcomes;   ///< by way and number of their first fault; pairs last
};

/// The explorations among `runs`: cells that were run with and without faults. Of a cell's attempts the last counts.
Result<std::vector<Exploration>> explorations(const std::vector<RunRecord>& runs, const Vocabulary& vocabulary);

/// For people: neighbours that did the same are one line.
std::string to_text(const std::vector<Exploration>& explorations, const Vocabulary& vocabulary);
std::string to_json(const std::vector<Exploration>& explorations, const Vocabulary& vocabulary);

}  // namespace longhaul::results
