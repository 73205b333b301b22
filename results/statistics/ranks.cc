#include "results/statistics/ranks.hh"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace longhaul::results {
namespace {

constexpr std::size_t kExact = 50;

// Keeps a tail that is met exactly (0.025 as a sum of fractions) on the right side of rounding.
constexpr double kSlack = 1 + 1e-12;

// P(Binomial(n, 1/2) = k), by logarithms: 2^-n alone underflows beyond n = 1074.
double binomial_half(std::size_t n, std::size_t k) {
  const auto size = static_cast<double>(n);
  const auto picked = static_cast<double>(k);
  return std::exp(std::lgamma(size + 1) - std::lgamma(picked + 1) - std::lgamma(size - picked + 1) -
                  size * std::numbers::ln2);
}

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

}  // namespace

double binomial_half_cdf(std::size_t n, std::size_t k) {
  if (k >= n) return 1;
  double sum = 0;
  for (std::size_t i = 0; i <= k; ++i) sum += binomial_half(n, i);
  return std::min(sum, 1.0);
}

std::size_t binomial_half_rank(std::size_t n, double tail) {
  double below = 0;
  std::size_t k = 0;
  while (k <= n && (below += binomial_half(n, k)) <= tail * kSlack) ++k;
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
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                          -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  const auto tail = [&](double p) {
    const double q = std::sqrt(-2 * std::log(p));
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  };
  double z = 0;
  if (probability < 0.02425) {
    z = tail(probability);
  } else if (probability > 1 - 0.02425) {
    z = -tail(1 - probability);
  } else {
    const double q = probability - 0.5;
    const double r = q * q;
    z = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  const double error = (normal_cdf(z) - probability) * std::sqrt(2 * std::numbers::pi) * std::exp(z * z / 2);
  return z - error / (1 + z * error / 2);
}

std::size_t mann_whitney_rank(std::size_t n, std::size_t m, double tail) {
  if (n == 0 || m == 0) return 0;
  if (n <= kExact && m <= kExact) {
    const auto pmf = mann_whitney_pmf(n, m);
    double below = 0;
    std::size_t c = 0;
    while (c < pmf.size() && below + pmf[c] <= tail * kSlack) below += pmf[c++];
    return c;
  }
  const auto first = static_cast<double>(n);
  const auto second = static_cast<double>(m);
  const double mean = first * second / 2;
  const double deviation = std::sqrt(first * second * (first + second + 1) / 12);
  const double c = std::floor(mean + normal_quantile(tail) * deviation + 0.5);
  return c < 0 ? 0 : static_cast<std::size_t>(c);
}

}  // namespace longhaul::results
