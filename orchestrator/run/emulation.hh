// Carries out what the state of the WAN (wan.hh) asks for: probes the links, has the router's degen apply, measure and
// clear, and tells the state what came of it. Thin.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/run/nodes.hh"
#include "orchestrator/run/wan.hh"

namespace longhaul::orchestrator {

/// The result of a probe phase.
struct PathMeasurement {
  degen::Report report;                   ///< of the router; empty samples on a path without one
  std::vector<std::int64_t> round_trips;  ///< ns, at the client
};

class Emulation {
 public:
  /// `nodes` and `wan` must outlive this. `router` empty: there is none, only round trips are measured.
  Emulation(Nodes& nodes, std::string router, Wan& wan) : nodes_(nodes), router_(std::move(router)), wan_(wan) {}

  /// Measures the links unimpaired: what is subtracted later.
  Awaitable<Result<void>> measure_baseline(std::vector<Link> links);

  /// Applies, probes all links, measures and applies again until the state has it in place or gives it up. Returns the
  /// last report. Refused with Status::failed: a lost node, or degen refuses.
  Awaitable<Admitted<degen::Report>> put_in_place(std::string engine, Parameters parameters, std::vector<Link> links);

  /// A short probe phase over all links. What is further from the asked than `share` of the tolerance is probed four
  /// times as long before it is believed: a stall of a busy host lasts longer than the short phase.
  Awaitable<Result<PathMeasurement>> measure(std::vector<Link> links, double share = 1.0);

  /// The router's report since the last measurement: the probes of a run. The next measurement starts from here.
  Awaitable<Result<degen::Report>> take_report();

  /// Removes the impairment. Nothing to do where there is no router.
  Awaitable<Result<void>> clear();

 private:
  Awaitable<Result<std::vector<std::int64_t>>> probe(std::vector<Link> links, std::int64_t count);
  Awaitable<Result<degen::Report>> report(degen::RequestKind kind);
  Awaitable<Result<degen::Report>> degen(degen::Request request);

  Nodes& nodes_;
  std::string router_;
  Wan& wan_;
};

}  // namespace longhaul::orchestrator
