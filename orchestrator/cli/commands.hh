// The subcommands of `longhaul`: each adds itself to the parser and sets the exit code when it has run.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lab/kernel.hh"
#include "orchestrator/campaign/campaign.hh"
#include "results/summary/vocabulary.hh"

namespace longhaul::orchestrator {

void add_run(CLI::App& app, int& exit_code);
void add_results(CLI::App& app, int& exit_code);  ///< report, compare, claims
void add_certify(CLI::App& app, int& exit_code);
void add_costs(CLI::App& app, int& exit_code);
void add_simulate(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_lab(CLI::App& app, int& exit_code);
void add_shard(CLI::App& app, int& exit_code);  ///< shard, merge
void add_kernels(CLI::App& app, int& exit_code);
void add_explore(CLI::App& app, int& exit_code);
void add_inject(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_pki(CLI::App& app, int& exit_code);
void add_history(CLI::App& app, int& exit_code);
void add_store(CLI::App& app, int& exit_code);

/// --kernel and --modules of the commands that boot a lab.
void add_kernel_options(CLI::App& command, lab::KernelChoice& kernel);

/// --store of the commands that make a campaign.
void add_store_option(CLI::App& command, std::string& store);

struct SlurmOptions;
/// --partition and --sbatch of the commands that submit a job array. `group`: of the help.
void add_slurm_options(CLI::App& command, SlurmOptions& slurm, const std::string& group = "Options");

/// All that this build knows: what campaigns may say, and what results mean.
Vocabulary campaign_vocabulary();
results::Vocabulary results_vocabulary();

/// Prints "longhaul: ..." (or {"error": ...} with --json) and returns the exit code.
int report_error(const Error& error, bool as_json = false);

/// Prints what a command found: the JSON document, or the text and the files that have it, one a line.
/// Only what is printed is made.
void tell(bool as_json, const std::function<std::string()>& json, const std::function<std::string()>& text,
          const std::vector<std::filesystem::path>& files = {});

}  // namespace longhaul::orchestrator
