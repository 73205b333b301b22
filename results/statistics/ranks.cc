#include "results/statistics/ranks.hh"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

namespace longhaul::results {
namespace {

// Keeps a tail that is met exactly (0.025 as a sum of fractions) on the right side of rounding.
constexpr double kSlack = 1 + 1e-12;

// The largest c such that P(X < c) <= tail.
std::size_t rank_within(const std::vector<double>& pmf, double tail) {
  double below = 0;
  std::size_t c = 0;
  while (c < pmf.size() && below + pmf[c] <= tail * kSlack) below += pmf[c++];
  return c;
}

std::size_t approximate_rank(double mean, double variance, double tail) {
  const double c = std::floor(mean + normal_quantile(tail) * std::sqrt(variance) + 0.5);
  return c < 0 ? 0 : static_cast<std::size_t>(c);
}

}  // namespace

double binomial_half_cdf(std::size_t n, std::size_t k) {
  return k >= n ? 1 : boost::math::cdf(boost::math::binomial{static_cast<double>(n), 0.5}, static_cast<double>(k));
}

std::size_t binomial_half_rank(std::size_t n, double tail) {
  if (n == 0 || tail <= 0) return 0;
  // Boost's quantile of a binomial distribution takes six times as long as a first guess by the normal one.
  const auto size = static_cast<double>(n);
  const auto guess = std::round((size + normal_quantile(tail) * std::sqrt(size)) / 2);
  auto k = static_cast<std::size_t>(std::clamp(guess, 0.0, size));
  while (k > 0 && binomial_half_cdf(n, k - 1) > tail * kSlack) --k;
  while (k < n && binomial_half_cdf(n, k) <= tail * kSlack) ++k;
  return k;
}

std::vector<double> mann_whitney_pmf(std::size_t n, std::size_t m) {
  // U is the rank sum of the n samples less its least value n(n+1)/2. ways[j][u]: choices of j of the ranks seen so far
  // whose sum exceeds the least possible by u. Taking rank r as the j-th smallest adds r - j.
  const std::size_t top = n * m;
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(top + 1, 0.0));
  ways[0][0] = 1;
  for (std::size_t rank = 1; rank <= n + m; ++rank) {
    for (std::size_t j = std::min(rank, n); j >= 1; --j) {
      const std::size_t step = rank - j;
      if (step > m) continue;
      for (std::size_t u = step; u <= top; ++u) ways[j][u] += ways[j - 1][u - step];
    }
  }
  double total = 0;
  for (const double way : ways[n]) total += way;
  for (double& way : ways[n]) way /= total;
  return ways[n];
}

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal{}, probability);
}

std::vector<double> signed_rank_pmf(std::size_t n) {
  // Each of the ranks 1 .. n counts or does not, by the sign of its difference.
  std::vector<double> probability(n * (n + 1) / 2 + 1, 0.0);
  probability[0] = 1;
  std::size_t top = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    top += rank;
    for (std::size_t w = top + 1; w-- > 0;)
      probability[w] = (probability[w] + (w >= rank ? probability[w - rank] : 0)) / 2;
  }
  return probability;
}

std::size_t mann_whitney_rank(std::size_t n, std::size_t m, double tail) {
  if (n == 0 || m == 0) return 0;
  if (n <= kExactRanks && m <= kExactRanks) return rank_within(mann_whitney_pmf(n, m), tail);
  const auto first = static_cast<double>(n);
  const auto second = static_cast<double>(m);
  return approximate_rank(first * second / 2, first * second * (first + second + 1) / 12, tail);
}

std::size_t signed_rank_rank(std::size_t n, double tail) {
  if (n == 0) return 0;
  if (n <= kExactRanks) return rank_within(signed_rank_pmf(n), tail);
  const auto size = static_cast<double>(n);
  return approximate_rank(size * (size + 1) / 4, size * (size + 1) * (2 * size + 1) / 24, tail);
}

}  // namespace longhaul::results
