// The null distributions behind the intervals. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace longhaul::results {

/// Up to so many samples a side ranks are exact.
inline constexpr std::size_t kExactRanks = 50;

/// P(Binomial(n, 1/2) <= k).
double binomial_half_cdf(std::size_t n, std::size_t k);

/// The largest k such that P(Binomial(n, 1/2) < k) <= tail: 0 when not even 0 successes are that rare.
std::size_t binomial_half_rank(std::size_t n, double tail);

/// P(U = u) of the Mann-Whitney statistic of n and m untied samples, for u = 0 .. n*m. Exact, by dynamic programming:
/// O((n+m) * n * n*m) additions of positive numbers, so that no digit is lost.
std::vector<double> mann_whitney_pmf(std::size_t n, std::size_t m);

/// The largest c such that P(U < c) <= tail; 0 when not even U = 0 is that rare. Exact up to 50 samples a side, above
/// that by the normal approximation with continuity correction.
std::size_t mann_whitney_rank(std::size_t n, std::size_t m, double tail);

/// P(W = w) of Wilcoxon's signed-rank statistic of n differences without ties, for w = 0 .. n(n+1)/2. Exact, by dynamic
/// programming.
std::vector<double> signed_rank_pmf(std::size_t n);

/// The largest c such that P(W < c) <= tail; 0 when not even W = 0 is that rare. Exact up to 50 differences, above that
/// by the normal approximation with continuity correction.
std::size_t signed_rank_rank(std::size_t n, double tail);

/// The standard normal's quantile. probability in (0, 1).
double normal_quantile(double probability);

}  // namespace longhaul::results
