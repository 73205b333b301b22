// Many strategies at many capacities over one trace, read once.
#pragma once

#include <functional>

#include "registration/policies/strategy.hh"
#include "registration/simulate/lengths.hh"
#include "registration/simulate/offline.hh"
#include "registration/simulate/simulation.hh"
#include "registration/simulate/trace.hh"

namespace longhaul::registration {

struct SweepOptions {
  std::vector<Strategy> strategies;
  std::vector<Capacity> capacities;                    ///< at least one page each
  double sample = 0;                                   ///< the share of memory in each sample; 0: all is simulated
  bool offline = false;                                ///< keeps the trace in memory, for what knows the future
  unsigned threads = 0;                                ///< 0: as many as there are processors
  std::function<bool(double fraction)> progress = {};  ///< after every batch; false ends the sweep
};

/// One strategy at one capacity. Where nothing is cached the capacity means nothing: such a strategy has one outcome,
/// at no pages.
struct SweepOutcome {
  std::size_t strategy = 0;  ///< in SweepOptions
  Capacity capacity;
  Tally tally;
  std::vector<Tally> samples =
      {};  ///< where it was sampled, adjusted; `tally` is then the whole that follows from them
};

struct Sweep {
  std::vector<SweepOutcome> outcomes;  ///< in the order of strategies, then capacities
  Lengths lengths;                     ///< of the requests
  std::uint64_t requests = 0;
  std::uint64_t pages = 0;    ///< asked for
  std::uint64_t skipped = 0;  ///< bad lines or records
  Future future;              ///< with SweepOptions::offline; not yet prepared
};

/// An error of the trace, or "interrupted". What is sampled has passed check_sampling().
Result<Sweep> sweep(Trace& trace, const SweepOptions& options);

}  // namespace longhaul::registration
