// State of the emulated WAN while a campaign runs: the impairment in place, what it achieves, what the links
// are without one, and whether that still holds. Pure: events come in, decisions go out; emulation.hh does the rest.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "degen/client/messages.hh"
#include "degen/impairment/spec.hh"
#include "model/record.hh"
#include "orchestrator/run/links.hh"
#include "orchestrator/run/tolerance.hh"

namespace longhaul::orchestrator {

/// Why a run is not made or does not count: Status::refused where the WAN is not as it was asked for, else failed.
struct Refusal {
  Status status = Status::failed;
  std::string message;
};

template <typename T>
using Admitted = tl::expected<T, Refusal>;

/// Delays of the links without impairment, ns.
struct Baseline {
  std::int64_t forward = 0, back = 0;               ///< residence in the router
  std::map<std::string, std::int64_t> round_trips;  ///< median, by the link's addresses (key_of)
};

std::string key_of(const Link& link);

class Wan {
 public:
  static constexpr int kTries = 5;     ///< of placing an impairment, until degen's closed loop has learnt
  static constexpr double kAim = 0.5;  ///< of the tolerance when placing, so that the run's own measurement has room

  /// Processors are emulated: another tolerance.
  void set_emulated(bool emulated) { emulated_ = emulated; }

  /// The baseline has to be measured before the next run over a path.
  bool stale() const { return stale_; }
  const Baseline& baseline() const { return baseline_; }
  /// Median round trip of a link without impairment, ns; 0: not measured.
  std::int64_t unimpaired_round_trip(const Link& link) const;

  /// True if the impairment that was asked for is in place, as far as is known.
  bool in_place() const { return in_place_; }
  const std::string& engine() const { return engine_; }
  const degen::Impairment& asked() const { return asked_; }
  /// True if the runs' paths cross the router. Without that nothing is asked of it.
  bool crosses() const { return crosses_; }
  /// As last measured without a workload: forward, back, ns.
  const std::vector<std::int64_t>& achieved() const { return achieved_; }
  /// The number of times that it was applied since it was asked for.
  int tries() const { return tries_; }
  /// The time after which a probe counts as lost.
  Nanoseconds probe_timeout() const;
  /// The request to degen.
  degen::Request request() const;

  /// A report with what degen cannot know: while nothing is applied it has nothing to subtract, the baseline has.
  degen::Report corrected(degen::Report report) const;
  /// True if a measurement without a workload is within `share` of the tolerance.
  bool on_target(const degen::Report& report, double share) const;

  // Events.

  /// Agents were connected, some of them anew: degen may have been gone with one.
  void reconnected();
  /// Other runs are next, which want another impairment.
  void begin_block() { in_place_ = false; }
  /// The baseline is known; it is stale still where it lacks one of `links`.
  void take(Baseline baseline, const std::vector<Link>& links);
  /// An impairment is wanted. An error: there is no such one.
  Result<void> ask(std::string engine, const Parameters& parameters, bool crosses);
  /// It was applied and measured. True: it is in place; false: apply it again. Refused after kTries.
  Admitted<bool> applied(const degen::Report& measured);
  /// A run in place was measured, `during` it by so many probes and `after` it without it. Refused: it does not count.
  Admitted<void> measured(const degen::Report& during, std::uint64_t probes, const degen::Report& after);
  /// Placing, a run or a measurement failed: what made it fail may have touched the router, too.
  void failed();
  /// The router was told to take away what it has.
  void cleared();

 private:
  Admitted<void> refuse_run(std::string message);
  bool lost(const degen::Report& report) const;

  bool emulated_ = false;
  bool stale_ = true;
  Baseline baseline_;
  bool in_place_ = false;
  bool crosses_ = false;
  std::string engine_;
  degen::Impairment asked_;
  Parameters parameters_;  // asked_, as degen reports it
  int tries_ = 0;
  std::vector<std::int64_t> achieved_;
};

}  // namespace longhaul::orchestrator
