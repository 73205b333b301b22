#include "results/statistics/interval.hh"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "results/statistics/ranks.hh"

namespace longhaul::results {
namespace {

double middle(const std::vector<double>& sorted) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : std::midpoint(sorted[half - 1], sorted[half]);
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

bool all_positive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v > 0 && std::isfinite(v); });
}

}  // namespace

double median(std::span<const double> values) {
  return middle(sorted_copy(values));
}

std::optional<Interval> median_interval(std::span<const double> values, double level) {
  const auto n = values.size();
  const auto k = binomial_half_rank(n, (1 - level) / 2);
  if (k == 0 || 2 * k > n) return std::nullopt;
  const auto sorted = sorted_copy(values);
  return Interval{.low = sorted[k - 1], .high = sorted[n - k], .level = 1 - 2 * binomial_half_cdf(n, k - 1)};
}

std::optional<double> precision(std::span<const double> values, double level) {
  const auto interval = median_interval(values, level);
  const double centre = median(values);
  if (interval && interval->low == interval->high) return 0.0;  // also where it is computed, or 0 in every run
  if (!interval || centre == 0) return std::nullopt;
  return (interval->high - interval->low) / 2 / std::abs(centre);
}

Interval share_interval(double events, double trials, double level) {
  using Binomial = boost::math::binomial;
  const auto tail = (1 - level) / 2;
  return {.low = events <= 0 ? 0 : Binomial::find_lower_bound_on_p(trials, events, tail),
          .high = events >= trials ? 1 : Binomial::find_upper_bound_on_p(trials, events, tail),
          .level = level};
}

std::optional<Ratio> ratio_interval(std::span<const double> a, std::span<const double> b, double level) {
  if (a.empty() || b.empty() || !all_positive(a) || !all_positive(b)) return std::nullopt;
  std::vector<double> shifts;
  shifts.reserve(a.size() * b.size());
  for (const double over : a)
    for (const double under : b) shifts.push_back(std::log(over) - std::log(under));
  std::sort(shifts.begin(), shifts.end());
  Ratio ratio{.value = std::exp(middle(shifts)), .interval = {}};
  const auto c = mann_whitney_rank(a.size(), b.size(), (1 - level) / 2);
  if (c == 0) return ratio;
  // The true shift is below the c-th smallest difference exactly when U < c.
  double covered = level;
  if (a.size() <= 50 && b.size() <= 50) {
    const auto pmf = mann_whitney_pmf(a.size(), b.size());
    double below = 0;
    for (std::size_t u = 0; u < c; ++u) below += pmf[u];
    covered = 1 - 2 * below;
  }
  ratio.interval =
      Interval{.low = std::exp(shifts[c - 1]), .high = std::exp(shifts[shifts.size() - c]), .level = covered};
  return ratio;
}

}  // namespace longhaul::results
