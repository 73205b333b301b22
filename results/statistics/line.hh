// A straight line through what was measured at several places, y = slope x + intercept. Pure.
#pragma once

#include <optional>
#include <vector>

#include "results/statistics/interval.hh"

namespace longhaul::results {

struct LinePoint {
  double x = 0;
  std::vector<double> values;  ///< of the runs, by repetition
};

struct LineFit {
  double slope = 0;  ///< medians over runs
  double intercept = 0;
  std::optional<Interval> slope_interval;  ///< over runs, 95 %, distribution-free; empty: fewer than six
  std::optional<Interval> intercept_interval;
  std::vector<double> slopes;  ///< one a run
  std::vector<double> intercepts;
};

/// Each repetition is fitted by itself, by least squares of relative deviations (a size of 256 MiB must not drown one
/// of 4 KiB), so that the intervals are over runs like all others. Empty with fewer than two places, or without a
/// repetition that has them all. Values must be positive.
std::optional<LineFit> fit_line(const std::vector<LinePoint>& points);

}  // namespace longhaul::results
