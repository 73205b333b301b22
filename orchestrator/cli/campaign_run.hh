// The common part of all ways to run a campaign: options, the campaign, the manifest, the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/kernel.hh"
#include "orchestrator/cli/directory.hh"
#include "orchestrator/cli/slurm_command.hh"
#include "orchestrator/run/ledger.hh"

namespace longhaul::orchestrator {

/// The options of `longhaul run`.
struct RunOptions {
  std::string campaign;
  bool lab = false;
  std::string topology = "automatic";
  lab::KernelChoice kernel;
  std::vector<std::string> inventories;  ///< of testbeds that share the campaign
  std::string out;
  std::string store;  ///< postgresql://...; empty: results.db in `out`
  bool resume = false;
  std::optional<std::uint64_t> seed;
  std::string clock;  ///< host, virtual; empty: virtual where the lab would be emulated
  int shift = 1;      ///< of the virtual clock
  int quantum = 1000;
  std::size_t labs = 0;  ///< copies side by side; 0: one a processor
  std::size_t share = 0, shares = 1;
  bool print_shards = false;  ///< the commands that make the shares, and nothing else
  std::string certificate;    ///< a file; cells outside of it are unsupported. Empty: none
  bool plan = false;
  bool as_json = false;
  SlurmOptions slurm;
};

/// A campaign and its cells.
struct RunPlan {
  Campaign campaign;
  std::vector<CampaignCell> cells;
};

/// Checks and expands a campaign's text; errors name `path`.
Result<RunPlan> plan_of(const std::string& path, std::string text);
/// The same of a file.
Result<RunPlan> read_plan(const std::string& path);

/// The end of one lab's or one testbed's part of the campaign.
struct CampaignSession {
  Result<void> outcome;
  std::int64_t made = 0;  ///< runs
  Manifest manifest;
  std::string consoles;      ///< of a lab
  bool agents_lost = false;  ///< those of a Slurm job that goes on
};

inline Destination destination_of(const RunOptions& options) {
  return {.out = options.out, .store = options.store};
}

/// The kernel that a session boots: the one asked for, else the one that the campaign was begun with. Pure.
lab::KernelChoice kernel_for(const lab::KernelChoice& asked, const std::optional<Manifest>& earlier);
/// Refuses to go on with another kernel than the campaign was begun with. Pure.
Result<void> check_kernel(const Manifest& earlier, const std::string& release);
/// --kernel and --modules, as a command line has them, with a space before each. Pure.
std::string kernel_words(const lab::KernelChoice& kernel);

/// `longhaul run`: makes the campaign, or goes on with it; returns the exit code.
int run_campaign(RunOptions options);

/// The manifest of a campaign that begins, or goes on (then with the testbeds that it had before, too).
Manifest make_manifest(const RunOptions& options, const RunPlan& plan, const std::vector<Testbed>& testbeds,
                       const std::optional<Manifest>& earlier);

}  // namespace longhaul::orchestrator
