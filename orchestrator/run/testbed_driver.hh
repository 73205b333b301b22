// One testbed's part of a campaign: connect, put the WAN in place block by block, run, judge, keep, repeat.
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
#include "orchestrator/run/writer.hh"

namespace longhaul::orchestrator {

struct DriveOptions {
  Nanoseconds connect_timeout = std::chrono::seconds{20};  ///< until all agents answer
  Nanoseconds return_timeout = std::chrono::seconds{60};   ///< until one that was lost is back
  Nanoseconds setup_timeout = std::chrono::seconds{20};    ///< see RunRequest
  Nanoseconds window_grace = std::chrono::seconds{30};     ///< beyond three times the window by its parameters
  int attempts = Schedule::kAttempts;
  bool short_windows = false;                    ///< see sealed_window
  std::int64_t padding = 0;                      ///< see StartRequest
  std::int64_t payload = 0;                      ///< see vary_payload
  std::optional<std::uint64_t> token_seed = {};  ///< see Tokens
  /// Of the testbed as it is: not measured again where it knows all links, unless a node is lost.
  std::optional<Baseline> baseline = {};
  Writer writer = {};  ///< of the journal
};

/// The path during a run and after it.
struct PathSurvey {
  std::vector<std::int64_t> round_trips;  ///< during, ns, at the client
  Result<degen::Report> during;
  Result<PathMeasurement> after;
};

/// A testbed and the way to its agents, which must outlive whoever has this.
struct TestbedAccess {
  std::string name;  ///< for messages; empty where there is no other
  const Testbed& testbed;
  Dialer& dialer;
};

/// Lives on one io_context. Errors of its nodes and of its path end its part alone; errors of the journal end the
/// campaign.
class TestbedDriver {
 public:
  /// `taker`: its number in the schedule. `stopped` is polled; true ends the run in flight and all else soon.
  /// Everything by reference must outlive this.
  TestbedDriver(const Campaign& campaign, const std::vector<CampaignCell>& cells, const TestbedAccess& access,
                std::size_t taker, const DriveOptions& options, Ledger& ledger, Sink& sink, const bool& stopped);

  /// Chooses the links of the cells. An error: the testbed does not have what they need.
  Result<void> plan();

  /// Connects all nodes, those that are not connected; their facts are known then.
  Awaitable<Result<void>> connect();

  /// Makes runs as long as the schedule has some. An error ends it: see lost().
  Awaitable<Result<void>> make_runs();

  /// The error was the testbed's: a node cannot be reached any more, or its path not be measured.
  bool lost() const { return lost_; }

  /// The router unimpaired (if its agent is there to be told), no process left.
  Awaitable<void> leave();
  Awaitable<void> close() { return nodes_.close(); }

  const std::string& name() const { return name_; }
  const Testbed& testbed() const { return testbed_; }
  const std::map<std::string, NodeFacts>& facts() const { return nodes_.facts(); }
  /// The links' delays without impairment, as last measured or given.
  const Baseline& baseline() const { return wan_.baseline(); }

 private:
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
  void warn(const std::string& text);
  tl::unexpected<Error> lose(const Error& why);

  const Campaign& campaign_;
  const std::vector<CampaignCell>& cells_;
  std::string name_;
  const Testbed& testbed_;
  std::size_t taker_;
  DriveOptions options_;
  Ledger& ledger_;
  Sink& sink_;
  const bool& stopped_;
  Tokens tokens_;
  Nodes nodes_;
  Wan wan_;
  Emulation emulation_;
  std::vector<Link> links_;        ///< by cell
  std::vector<Link> block_links_;  ///< of the block, each once; empty: its cells cross nothing
  bool announced_ = false;         ///< the block, when its impairment is first in place
  int unmeasured_ = 0;             ///< baselines that could not be measured since a run was useful
  bool lost_ = false;
  std::optional<PlannedRun> prepared_for_;
  Pending<PreparedRun> prepared_;  ///< its processes, already started
};

}  // namespace longhaul::orchestrator
