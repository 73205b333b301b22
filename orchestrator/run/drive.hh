// A campaign driven over a testbed, or over several that share its repetitions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "orchestrator/run/testbed_driver.hh"

namespace longhaul::orchestrator {

class Driver {
 public:
  /// Everything by reference must outlive this. `manifest` is this campaign's, with its cells and testbeds; an earlier
  /// session's times in it are added to. `testbeds`: one at least.
  Driver(const Campaign& campaign, const std::vector<CampaignCell>& cells, const std::vector<TestbedAccess>& testbeds,
         Manifest manifest, Precision precision, Journal& journal, Sink& sink, const DriveOptions& options = {});

  /// Before run(): what need not be repeated.
  void resume(const std::vector<EarlierRun>& runs) { ledger_.resume(runs); }

  /// Drives the campaign to its end. An error is one that ends it: nodes that cannot be reached, testbeds that are not
  /// alike, a disk that is full, an interrupt (ExitCode::interrupted). One of several testbeds that is lost on the way
  /// is left out, and the others make what it has not. What is finished is in the journal in any case, and no router
  /// impaired (if its agent is there to be told).
  Awaitable<Result<void>> run();

  /// From the io_context's thread: ends the runs in flight and returns from run() soon.
  void interrupt() { stopped_ = true; }

  const Manifest& manifest() const { return ledger_.manifest(); }
  std::int64_t runs_made() const { return ledger_.made(); }
  /// Of the first testbed.
  const Baseline& baseline() const { return testbeds_.front()->baseline(); }

 private:
  Awaitable<Result<void>> drive();
  Awaitable<Result<void>> connect();
  /// One testbed's share. False: it was ended before the schedule was done.
  Awaitable<bool> make_runs(TestbedDriver& testbed, std::size_t taker);

  Sink& sink_;
  bool stopped_ = false;
  Ledger ledger_;
  std::vector<std::unique_ptr<TestbedDriver>> testbeds_;
  std::optional<Error> end_;   ///< why the campaign ended before its time
  std::optional<Error> loss_;  ///< of the testbed that was lost last
};

}  // namespace longhaul::orchestrator
