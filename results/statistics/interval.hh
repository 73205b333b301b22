// Medians and ratios with intervals that assume no distribution. Pure; every sample here is one RUN (a run's median),
// never one operation: samples of one run are not independent.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace longhaul::results {

/// A confidence interval. `level` is what it really covers when the runs are independent and alike: the smallest
/// attainable level that is at least the one asked for.
struct Interval {
  double low = 0;
  double high = 0;
  double level = 0;
  bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval&) const = default;
};

/// The middle value, or the mean of the two middle ones. NaN when there are none.
double median(std::span<const double> values);

/// Exact interval of the median from order statistics: with k the largest rank such that
/// 2 P(Binomial(n, 1/2) < k) <= 1 - level, it is [x(k), x(n+1-k)]. Ties only widen its coverage. Empty where n is too
/// small for the level (95 % needs 6). Conover, Practical Nonparametric Statistics (3rd ed.), section 3.2.
std::optional<Interval> median_interval(std::span<const double> values, double level = 0.95);

/// Half the width of the interval against the median: what a campaign calls precision. 0 where all of it is one value,
/// as of what is computed; else empty without an interval, or at a median of 0.
std::optional<double> precision(std::span<const double> values, double level = 0.95);

/// Exact interval of a share: so many of `trials` independent events. Both may be fractions (an effective number).
/// trials > 0. Clopper, Pearson, Biometrika 26 (1934).
Interval share_interval(double events, double trials, double level = 0.95);

/// a over b, two independent sets of runs.
struct Ratio {
  double value = 0;  ///< exp of the Hodges-Lehmann shift of the logarithms: the median of all a_i / b_j
  std::optional<Interval>
      interval;  ///< Moses: inverts the exact Mann-Whitney test; empty where the runs are too few (95 % needs 4 and 4)
  bool operator==(const Ratio&) const = default;
};

/// Empty when a set is empty or a value is not positive and finite. Exact up to 50 runs a set, above that the normal
/// approximation. With ties the interval is conservative (it covers at least its level).
/// Cost: the product of the set sizes. Hollander, Wolfe, Nonparametric Statistical Methods (3rd ed.),
/// sections 4.2, 4.3.
std::optional<Ratio> ratio_interval(std::span<const double> a, std::span<const double> b, double level = 0.95);

/// a over b where a[i] and b[i] belong together: runs of one seed. `value`: exp of the Hodges-Lehmann centre of the
/// logarithms' differences (the median of their pairwise means); the interval inverts the exact signed-rank test, which
/// takes the differences as symmetric (95 % needs 6 pairs). Empty as for ratio_interval, and where the sizes differ.
/// Exact up to 50 pairs. Hollander, Wolfe, Nonparametric Statistical Methods (3rd ed.), sections 3.2, 3.3.
std::optional<Ratio> paired_ratio_interval(std::span<const double> a, std::span<const double> b, double level = 0.95);

}  // namespace longhaul::results
