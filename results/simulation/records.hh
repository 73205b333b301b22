// Results of `longhaul simulate` as records of the workload `simulation`, in a store like any campaign's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/record.hh"
#include "results/summary/vocabulary.hh"

namespace longhaul::results {

/// The origin of a simulation.
struct Simulated {
  std::string command;  ///< that makes it again
  std::string version;
  std::int64_t started = 0;  ///< CLOCK_REALTIME ns
  std::int64_t finished = 0;
};

/// simulate.json as records: one run a row, the bounds' too. A trace has its file's name (or its recipe); where nothing
/// is cached, the capacity is 0. Pure.
Result<std::vector<RunRecord>> simulation_records(std::string_view document, const Simulated& simulated,
                                                  const Vocabulary& vocabulary);

/// Why DIR cannot take the records of a simulation: it holds those of a campaign.
Result<void> check_simulation_directory(const std::filesystem::path& directory);

/// From DIR/simulate.json writes DIR/results.db, manifest.json and cells.csv, in place of those of an earlier
/// simulation. Returns the store's file and the table's.
Result<std::vector<std::filesystem::path>> write_simulation_records(const std::filesystem::path& directory,
                                                                    const Simulated& simulated,
                                                                    const Vocabulary& vocabulary);

}  // namespace longhaul::results
