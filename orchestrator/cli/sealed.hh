// Campaigns by a virtual clock: over copies of a sealed lab.
#pragma once

#include <optional>

#include "lab/sealed.hh"
#include "orchestrator/cli/campaign_run.hh"
#include "orchestrator/run/sealed.hh"

namespace longhaul::orchestrator {

/// The facts that decide a campaign's clock: the option, the clock it was begun with, this machine. Pure.
struct ClockQuestion {
  std::string asked;                 ///< host, virtual; empty: not said
  bool lab = false;                  ///< a lab of ours, no inventory
  std::string topology;              ///< as asked for
  std::optional<std::string> begun;  ///< by which an earlier session measured
};
/// "host", "virtual"; empty: virtual where the lab would be emulated. Refuses what contradicts itself.
Result<std::string> settle_clock(const ClockQuestion& question);

/// Makes the campaign's missing runs. `directory` is opened here for a new campaign. An error is one before the first
/// run: nothing was kept then.
Result<CampaignSession> run_sealed_session(const RunOptions& options, const RunPlan& plan,
                                           std::optional<RunDirectory>& directory, Sink& sink);

/// The sealed lab that a plan wants. What it lacks is told.
Result<lab::SealedImage> seal_for(const RunOptions& options, const RunPlan& plan, Sink& sink);

/// Makes runs on copies of it.
CopyRunner copies_of(const lab::SealedImage& image);

/// By a virtual clock the same seed gives the same figures: without one named, everybody's are the same.
inline constexpr std::uint64_t kVirtualSeed = 1;

/// For commands that measure by no other clock.
RunOptions by_the_virtual_clock();

/// Why what was begun on another image cannot be gone on with, or made again, on this one.
Result<void> check_image(const Manifest& earlier, const lab::SealedImage& image);
Result<void> check_clock(const Manifest& earlier, int shift, int quantum);

/// As a shell reads it back. Pure.
std::string shell_word(const std::string& word);
/// Words of a shell, as they stand in a command.
struct ShareWords {
  std::string campaign;  ///< its file
  std::string share;     ///< such as 2/8
  std::string out;
  std::string store;  ///< empty: none
};
/// What comes behind the program's name to make a share. Pure.
std::string share_command(const RunOptions& options, const ShareWords& words);

/// The commands that together make a campaign (options.shares of them), to be started anywhere, in any order. Pure.
std::vector<std::string> shard_commands(const RunOptions& options);

/// Makes runs on copies of it and keeps nothing: `take` has what each said. `labs` copies side by side, 0: one a
/// processor. Ctrl-C ends it.
Result<void> make_unkept(const RunPlan& plan, Manifest manifest, const lab::SealedImage& image, std::size_t labs,
                         Sink& sink, const std::vector<PlannedRun>& runs, SealedDriver::Take take);

/// The runs so many times each: all of them once, then all of them again, so that one that repeats badly shows early.
/// Pure.
std::vector<PlannedRun> repeated(const std::vector<PlannedRun>& runs, std::size_t times);

/// 0: one a processor.
std::size_t labs_or_all(std::size_t asked);

/// Its clock, for a record and a manifest.
VirtualClock clock_of(const lab::SealedImage& image);
VirtualTestbed testbed_clock_of(const lab::SealedImage& image);

}  // namespace longhaul::orchestrator
