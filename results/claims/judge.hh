// Decisions from intervals, one by one and several together. Pure.
//
// A verdict over several places rests on as many comparisons. "Everywhere" is shown by each interval at 95 % (an
// intersection-union test needs no more); "somewhere", as a place that refutes a claim, only by intervals so wide that
// all of them hold at once in 95 of 100 campaigns (Bonferroni). So no verdict errs in more than 5 %.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

inline constexpr std::int64_t kKibi = 1024;  // bytes

enum class Judgement { yes, no, unsure };

/// A figure with its 95 % interval, and the one that holds together with those of its family.
struct Measured {
  Ratio ratio;
  std::optional<Interval> joint;  ///< empty: too few runs for so many comparisons
  /// In units of `unit`.
  Measured over(double unit) const;
};

/// a / b, two independent sets of runs (ratio_interval); without an interval where one has no such values. `family`:
/// how many comparisons the verdict rests on.
Measured compared(std::span<const double> a, std::span<const double> b, std::size_t family);
/// The same of a metric of two cells; a cell may lack it.
Measured compared(const CellSummary& a, const CellSummary& b, const std::string& metric, std::size_t family);
/// The median of one set of runs, in its unit.
Measured typical(std::span<const double> values, std::size_t family);
/// A computed value: the same in every run.
Measured exactly(double value);

/// The ratio is 1 within a factor: yes when its whole interval is, no when its whole joint interval is not.
Judgement equal_within(const Measured& ratio, double factor);
/// Its whole interval is above the bound (yes), its joint interval below it (no), or neither.
Judgement above(const Measured& ratio, double bound);
Judgement below(const Measured& ratio, double bound);
/// The first is smaller than the second: their intervals do not overlap.
Judgement smaller(const Measured& first, const Measured& second);

Judgement all_of(const std::vector<Judgement>& judgements);

/// Ahead somewhere and nowhere behind: `no` also where all ratios are 1 within 5 %.
Judgement leads(const std::vector<Measured>& ratios);

/// yes: holds; no: does not hold; unsure: not decidable, since the intervals are too wide.
Finding conclude(Judgement judgement, std::string reason, std::vector<Evidence> evidence);
/// Not decidable by what was measured: the reason says what would have to be.
Finding undecided(std::string reason, std::vector<Evidence> evidence);

}  // namespace longhaul::results
