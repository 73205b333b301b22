// The books of a campaign under way: what was measured is kept, counted and told, and decides what comes next.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/events/event.hh"
#include "orchestrator/run/journal.hh"
#include "orchestrator/run/record.hh"
#include "orchestrator/run/schedule.hh"

namespace longhaul::orchestrator {

class Ledger {
 public:
  /// Everything by reference must outlive this. `manifest` is this campaign's, with its cells; an earlier session's
  /// times in it are added to. `testbeds`: so many make runs at the same time, for estimates of time.
  Ledger(const Campaign& campaign, const std::vector<CampaignCell>& cells, Manifest manifest, Precision precision,
         Journal& journal, Sink& sink, int attempts = Schedule::kAttempts, std::size_t testbeds = 1);

  /// Before open(): what need not be repeated.
  void resume(const std::vector<EarlierRun>& runs);

  /// Begins the books: the manifest, the cells that need no try to be known as impossible, the first event.
  Result<void> open();

  Schedule& schedule() { return schedule_; }
  Manifest& manifest() { return manifest_; }
  const Manifest& manifest() const { return manifest_; }
  std::int64_t made() const { return made_; }

  /// Under which a node's facts are in the journal; records refer to them from then on.
  void know_facts(const std::string& node, std::string digest);
  /// Keeps them there, too.
  Result<void> add_facts(const std::string& node, const NodeFacts& facts);

  /// The record of a run on this testbed, of which nothing is known yet.
  RunRecord blank(const PlannedRun& planned, const Testbed& testbed) const;
  /// Takes note of a run of a testbed's, by its number, whose record is in the journal; returns the run to make in its
  /// place where it does not count.
  std::optional<PlannedRun> account(const RunRecord& record, const PlannedRun& planned, std::size_t testbed = 0);
  /// Keeps it there, too. An error: the journal cannot.
  Result<std::optional<PlannedRun>> keep(const RunRecord& record, const PlannedRun& planned);

  /// The manifest with the time until now: what is to be saved.
  Manifest stamped();
  Result<void> save() { return journal_.save_manifest(stamped()); }
  Journal& journal() { return journal_; }

 private:
  Result<void> record_unsupported();
  Nanoseconds expected() const;
  Nanoseconds time_left() const;

  const Campaign& campaign_;
  const std::vector<CampaignCell>& cells_;
  Manifest manifest_;
  Journal& journal_;
  Sink& sink_;
  Schedule schedule_;
  std::int64_t testbeds_;
  std::map<std::string, std::string> digests_;  ///< node -> its facts in the journal
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::int64_t earlier_wall_ = 0;
  std::int64_t made_ = 0;
  std::int64_t done_ = 0;  ///< runs that count, all sessions
};

/// Now, CLOCK_REALTIME ns.
std::int64_t wall_now();

}  // namespace longhaul::orchestrator
