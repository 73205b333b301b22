// Slurm's own programs, asked.
#pragma once

#include <string>
#include <vector>

#include "common/result.hh"
#include "orchestrator/slurm/allocation.hh"

namespace longhaul::orchestrator {

/// How jobs are submitted.
struct SlurmOptions {
  bool asked = false;
  std::string partition;            ///< empty: the cluster's default
  std::vector<std::string> sbatch;  ///< further options of sbatch, as they are
};

struct SlurmAnswer {
  bool ok = false;
  std::string out, errors;
};

/// Runs one of Slurm's programs to its end. Not there: an error with a remedy. That it failed is none.
Result<SlurmAnswer> ask_slurm(const std::vector<std::string>& command);

/// A job, as squeue has it now. Not there, or an array: an error.
Result<slurm::Allocation> ask_for_job(const std::string& job);

}  // namespace longhaul::orchestrator
