// Dummy work that lasts for a given time: the paper's "computation loop that does a dummy work for a given time".
#pragma once

#include <cstdint>
#include <vector>

#include "model/units.hh"

namespace longhaul::workloads {

/// A fixed amount of arithmetic, calibrated so that it lasts `length` when nothing else runs. It is an amount, not a
/// time: whatever takes the processor away from it makes it last longer, which is what is to be seen.
class Computation {
 public:
  /// Calibrates on the calling thread, for some tens of milliseconds or twice `length`. 0: no work at all.
  explicit Computation(Nanoseconds length);

  /// Does the work.
  void run() const;

  Nanoseconds length() const { return length_; }
  std::uint64_t iterations() const { return iterations_; }

  /// Does the work and returns how long it took.
  Nanoseconds time() const;

  /// Takes what the work took by itself during a run: every few of them it is made longer or shorter, so that it keeps
  /// its length on a processor whose speed drifts (a shared or an emulated one).
  void learn(Nanoseconds taken);

  /// Throws std::runtime_error when `measured` (ns), what the work took by itself during a run, is not `length` within
  /// kTolerance: the processor has changed its speed, and figures of this run bear a wrong label.
  void check(double measured) const;

  /// Throws likewise when an exchange with the work in it took less time (`together`, ns) than the work by itself
  /// (`alone`, ns), by more than kTolerance: the work cannot have been at one speed.
  static void check_contained(double alone, double together);

  static constexpr double kTolerance = 0.1;

 private:
  Nanoseconds length_{};
  std::uint64_t iterations_ = 0;
  std::vector<Nanoseconds> learnt_;
};

}  // namespace longhaul::workloads
