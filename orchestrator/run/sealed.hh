// A campaign driven over copies of a sealed lab: every run is a copy of its own, several side by side. What they find
// depends neither on how many there are nor on their order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "orchestrator/run/ledger.hh"
#include "orchestrator/run/order.hh"

namespace longhaul::orchestrator {

/// Makes one run and returns what the copy said. Called from several threads at once; ends soon once `stopped` is true.
using CopyRunner = std::function<Result<std::string>(const SealedOrder& order, const std::function<bool()>& stopped)>;

struct SealedOptions {
  std::size_t labs = 1;  ///< copies side by side
  /// Of how many shares of the cells this is which: a shard. Cells of one share need nothing of the others.
  std::size_t share = 0, shares = 1;
};

class SealedDriver {
 public:
  /// Everything by reference must outlive this. `facts`: of the kept lab's nodes. `clock`: what every record is told.
  SealedDriver(const Campaign& campaign, const std::vector<CampaignCell>& cells, Manifest manifest, Precision precision,
               std::map<std::string, NodeFacts> facts, VirtualClock clock, CopyRunner runner, Journal& journal,
               Sink& sink, SealedOptions options);

  /// Before run(): what need not be repeated.
  void resume(const std::vector<EarlierRun>& runs);

  /// To the campaign's end. An error is one that ends it: a disk that is full, an interrupt. What is finished is in the
  /// journal in any case. `interrupted` is polled.
  Result<void> run(const std::function<bool()>& interrupted);

  const Manifest& manifest() const { return ledger_.manifest(); }
  std::int64_t runs_made() const { return ledger_.made(); }

  /// Takes what was said of a run that was made; returns one that is to be made in addition.
  using Take = std::function<Result<std::optional<PlannedRun>>(const PlannedRun& run, RunStory story)>;
  /// Makes runs, keeping nothing: for whoever makes them again.
  Result<void> make(const std::vector<PlannedRun>& runs, Take take, const std::function<bool()>& interrupted) const;

 private:
  SealedOrder order(const PlannedRun& planned) const;
  RunStory story(const PlannedRun& planned, const Result<std::string>& said) const;
  Result<void> check_again(const std::function<bool()>& interrupted);
  std::vector<PlannedRun> next_round();

  const Campaign& campaign_;
  const std::vector<CampaignCell>& cells_;
  std::map<std::string, NodeFacts> facts_;
  VirtualClock clock_;
  CopyRunner runner_;
  Sink& sink_;
  SealedOptions options_;
  Ledger ledger_;
  /// Measured values by run, of the runs that count: a repetition must give the same.
  std::map<std::string, std::pair<PlannedRun, std::string>> digests_;
};

}  // namespace longhaul::orchestrator
