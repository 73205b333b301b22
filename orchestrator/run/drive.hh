// A campaign driven over a testbed: connect, put the WAN in place block by block, run, judge, keep, repeat.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/events/event.hh"
#include "orchestrator/run/emulation.hh"
#include "orchestrator/run/execute.hh"
#include "orchestrator/run/ledger.hh"
#include "orchestrator/run/record.hh"
#include "orchestrator/run/schedule.hh"
#include "orchestrator/run/tokens.hh"
#include "orchestrator/run/wan.hh"

namespace longhaul::orchestrator {

struct DriveOptions {
  Nanoseconds connect_timeout = std::chrono::seconds{20};  ///< until all agents answer
  Nanoseconds return_timeout = std::chrono::seconds{60};   ///< until one that was lost is back
  Nanoseconds setup_timeout = std::chrono::seconds{20};    ///< see RunRequest
  Nanoseconds window_grace = std::chrono::seconds{30};     ///< beyond three times the window by its parameters
  int attempts = Schedule::kAttempts;
  bool short_windows = false;                    ///< see shorten_window
  std::int64_t padding = 0;                      ///< see StartRequest
  std::int64_t payload = 0;                      ///< see vary_payload
  std::optional<std::uint64_t> token_seed = {};  ///< see Tokens
  /// Of the testbed as it is: not measured again where it knows all links, unless a node is lost.
  std::optional<Baseline> baseline = {};
};

/// The path during a run and after it.
struct PathSurvey {
  std::vector<std::int64_t> round_trips;  ///< during, ns, at the client
  Result<degen::Report> during;
  Result<PathMeasurement> after;
};

class Driver {
 public:
  /// Everything by reference must outlive this. `manifest` is this campaign's, with its cells; an earlier session's
  /// times in it are added to.
  Driver(const Campaign& campaign, const std::vector<CampaignCell>& cells, const Testbed& testbed, Manifest manifest,
         Precision precision, Dialer& dialer, Journal& journal, Sink& sink, DriveOptions options = {});

  /// Before run(): what need not be repeated.
  void resume(const std::vector<EarlierRun>& runs) { ledger_.resume(runs); }

  /// Drives the campaign to its end. An error is one that ends it: an unreachable node, a disk that is full, an
  /// interrupt (ExitCode::interrupted). What is finished is in the journal in any case, and the router unimpaired (if
  /// its agent is there to be told).
  Awaitable<Result<void>> run();

  /// From the io_context's thread: ends the run in flight and returns from run() soon.
  void interrupt() { interrupted_ = true; }

  const Manifest& manifest() const { return ledger_.manifest(); }
  std::int64_t runs_made() const { return ledger_.made(); }
  /// The links' delays without impairment, as last measured or given.
  const Baseline& baseline() const { return wan_.baseline(); }

 private:
  Awaitable<Result<void>> drive();
  Awaitable<Result<void>> connect();
  /// All nodes are there and, where runs cross a path, its baseline is known. False: not yet, look again.
  Awaitable<Result<bool>> make_ready(bool crossing);
  Awaitable<Result<void>> run_block(Block block);
  Awaitable<Admitted<void>> put_in_place(Block block);
  Awaitable<RunRecord> run_one(PlannedRun planned, std::optional<PlannedRun> following);
  Awaitable<RunRecord> run_local(PlannedRun planned);
  void take(RunOutcome outcome, RunRecord& record);
  Awaitable<PathSurvey> survey(Pending<Result<agents::ProbeResult>> probes);
  void judge(RunRecord& record, PathEvidence evidence, PathSurvey path);
  Awaitable<void> drop_prepared();
  RunRequest request(const PlannedRun& planned);
  void emit(Event event) { sink_.on(event); }

  const Campaign& campaign_;
  const std::vector<CampaignCell>& cells_;
  const Testbed& testbed_;
  Sink& sink_;
  DriveOptions options_;
  bool interrupted_ = false;
  Tokens tokens_;
  Nodes nodes_;
  Wan wan_;
  Emulation emulation_;
  Ledger ledger_;
  std::vector<Link> links_;        ///< by cell
  std::vector<Link> block_links_;  ///< of the block, each once; empty: its cells cross nothing
  bool announced_ = false;         ///< the block, when its impairment is first in place
  int lost_ = 0;                   ///< baselines that could not be measured since a run was useful
  std::optional<PlannedRun> prepared_for_;
  Pending<PreparedRun> prepared_;  ///< its processes, already started
};

}  // namespace longhaul::orchestrator
