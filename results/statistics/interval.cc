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

// What the interval between the c-th smallest and the c-th largest covers: the true shift is below the c-th smallest
// exactly when the statistic is below c.
double covered(const std::vector<double>& pmf, std::size_t c) {
  double below = 0;
  for (std::size_t i = 0; i < c; ++i) below += pmf[i];
  return 1 - 2 * below;
}

// From the logarithms whose median is the ratio's; c: the rank of the interval's bounds, 0: there is none.
Ratio ratio_of(std::vector<double> shifts, std::size_t c, double level) {
  std::sort(shifts.begin(), shifts.end());
  Ratio ratio{.value = std::exp(middle(shifts)), .interval = {}};
  if (c > 0)
    ratio.interval =
        Interval{.low = std::exp(shifts[c - 1]), .high = std::exp(shifts[shifts.size() - c]), .level = level};
  return ratio;
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
  const auto c = mann_whitney_rank(a.size(), b.size(), (1 - level) / 2);
  const bool exact = a.size() <= kExactRanks && b.size() <= kExactRanks;
  return ratio_of(std::move(shifts), c, exact && c > 0 ? covered(mann_whitney_pmf(a.size(), b.size()), c) : level);
}

std::optional<Ratio> paired_ratio_interval(std::span<const double> a, std::span<const double> b, double level) {
  if (a.empty() || a.size() != b.size() || !all_positive(a) || !all_positive(b)) return std::nullopt;
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(std::log(a[i]) - std::log(b[i]));
  std::vector<double> means;
  means.reserve(a.size() * (a.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) means.push_back(std::midpoint(differences[i], differences[j]));
  const auto c = signed_rank_rank(a.size(), (1 - level) / 2);
  return ratio_of(std::move(means), c,
                  a.size() <= kExactRanks && c > 0 ? covered(signed_rank_pmf(a.size()), c) : level);
}

}  // namespace longhaul::results
