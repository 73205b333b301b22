// Assembling a run's record. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "degen/client/messages.hh"
#include "model/record.hh"
#include "orchestrator/campaign/cells.hh"
#include "orchestrator/run/schedule.hh"

namespace longhaul::orchestrator {

/// Measurements of the path before and after a run.
struct PathEvidence {
  std::string engine;                      ///< the one that was used
  std::optional<std::string> chosen = {};  ///< why, where degen was free to choose
  std::optional<std::uint64_t> seed = {};  ///< of what is random
  degen::Report during;
  std::vector<std::int64_t> before;  ///< achieved forward, back, ns
  std::vector<std::int64_t> after;
  std::optional<std::uint64_t> packets_forward = {}, packets_back = {};  ///< of the whole run, where they are counted
  std::vector<std::int64_t> round_trips;                                 ///< during, ns
  std::uint64_t probes = 0;                                              ///< sent during the run
  std::int64_t round_trip_unimpaired = 0;
  bool within_tolerance = true;
};

std::string run_id(const CampaignCell& cell, const PlannedRun& run);

PathRecord path_record(const PathEvidence& evidence);

/// Forward, back.
std::vector<std::int64_t> achieved(const degen::Report& report);

/// The headline metric of a run; empty when no node measured it.
std::optional<double> headline(const RunRecord& record, const WorkloadSpec& workload);

/// Time of a run by its parameters alone: warm-up and window; kUnknownWindow where they do not say.
inline constexpr Nanoseconds kUnknownWindow = std::chrono::seconds{1};
Nanoseconds window_of(const WorkloadSpec& workload, const Cell& cell);

/// By how much the cell's own `timeout` is longer than its default: who asks for it expects a path on which messages
/// take long (loss), and that is so of what comes before and after the window, too. A driver that is less patient than
/// its processes ends runs that would have ended well.
Nanoseconds further_patience(const WorkloadSpec& workload, const Cell& cell);

/// Round trip of the impairment alone.
Nanoseconds round_trip_of(const Cell& cell);

/// Parameters of the cell's workload as a copy of a sealed lab is given them: shorten_window(), but where the path
/// changes with time.
Parameters sealed_window(const Campaign& campaign, const CampaignCell& cell, Parameters parameters);
/// How many cells ask for a longer window than that.
std::size_t cut_windows(const Campaign& campaign, const std::vector<CampaignCell>& cells);

/// Estimated time of the runs with setting up and probing between them, by the testbed's clock, for plans. `sealed`: by
/// copies of a sealed lab, whose windows are short (sealed_window()) and whose router is impaired as each run begins.
Nanoseconds estimate(const Campaign& campaign, const std::vector<CampaignCell>& cells,
                     const std::vector<PlannedRun>& runs, bool sealed);

}  // namespace longhaul::orchestrator
