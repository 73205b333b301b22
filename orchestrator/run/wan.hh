// The emulated WAN as a campaign uses it: put in place with a closed loop, measured between runs and during them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/run/links.hh"
#include "orchestrator/run/nodes.hh"
#include "orchestrator/run/pending.hh"
#include "orchestrator/run/tolerance.hh"

namespace longhaul::orchestrator {

/// What a probe phase found.
struct PathMeasurement {
  degen::Report report;                   ///< of the router; empty samples on a path without one
  std::vector<std::int64_t> round_trips;  ///< ns, at the client
};

/// An impairment in place.
struct Impaired {
  PathMeasurement measured;
  int tries = 0;
  std::string off_target;  ///< why it is not as asked, after all tries; empty: it is
};

/// What the links are without impairment, ns.
struct Baseline {
  std::int64_t forward = 0, back = 0;               ///< residence in the router
  std::map<std::string, std::int64_t> round_trips;  ///< median, by the link's addresses
};

class Wan {
 public:
  /// `nodes` must outlive this. `router` empty: there is none, only round trips are measured.
  Wan(Nodes& nodes, std::string router) : nodes_(nodes), router_(std::move(router)) {}

  void set_emulated(bool emulated) { emulated_ = emulated; }
  bool emulated() const { return emulated_; }

  /// Measures the links unimpaired: what is subtracted later.
  Awaitable<Result<void>> baseline(std::vector<Link> links);
  /// What was measured so, or is taken as measured: of a machine that was copied since.
  const Baseline& known() const { return baseline_; }
  void take(Baseline baseline) { baseline_ = std::move(baseline); }
  bool knows(const std::vector<Link>& links) const;

  /// Applies, probes all links, measures and applies again until half of the tolerance is kept, a few times at most.
  /// An error is a lost node or a refusal by degen.
  Awaitable<Result<Impaired>> impair(std::string engine, Parameters parameters, std::vector<Link> links);

  /// A short probe phase over all links. What is further from the asked than `share` of the tolerance is probed four
  /// times as long before it is believed: a stall of a busy host lasts longer than the short phase.
  Awaitable<Result<PathMeasurement>> measure(std::vector<Link> links, double share = 1.0);

  /// What crossed the router since the last measurement: the probes of a run. The next measurement starts from here.
  Awaitable<Result<degen::Report>> take_report();

  /// Removes the impairment.
  Awaitable<Result<void>> clear();

  /// Where an impairment is in place: why a report is not of it (it was lost); empty: it is.
  std::string lost(const degen::Report& report) const;

  /// Median round trip of a link without impairment, ns; 0: not measured.
  std::int64_t unimpaired_round_trip(const Link& link) const;

  const degen::Impairment& asked() const { return asked_; }
  /// How long a probe may be under way.
  Nanoseconds probe_timeout() const;

 private:
  Awaitable<Result<std::vector<std::int64_t>>> probe(std::vector<Link> links, std::int64_t count);
  Awaitable<Result<degen::Report>> report(degen::RequestKind kind);
  Awaitable<Result<degen::Report>> degen(degen::Request request);
  void correct(degen::Report& report) const;

  Nodes& nodes_;
  std::string router_;
  bool emulated_ = false;
  degen::Impairment asked_;
  Parameters parameters_;
  Baseline baseline_;
};

/// The middle value; 0 of nothing.
std::int64_t median(std::vector<std::int64_t> values);

}  // namespace longhaul::orchestrator
