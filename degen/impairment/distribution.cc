#include "degen/impairment/distribution.hh"

#include <algorithm>
#include <array>
#include <cmath>

namespace longhaul::degen {
namespace {

using Table = std::array<std::int16_t, kDistributionSize>;

// The inverse of the standard normal distribution by bisection: 4096 values once, so plain beats fast.
double inverse_normal(double probability) {
  double low = -8;
  double high = 8;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Pareto with shape 3 (as iproute2's pareto.dist) moved to mean 0 and scaled to standard deviation 1.
double inverse_pareto(double probability) {
  return (std::pow(1 - probability, -1.0 / 3) - 1.5) / std::sqrt(0.75);
}

template <typename Inverse>
Table make_table(Inverse inverse) {
  Table table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double probability = (static_cast<double>(i) + 0.5) / static_cast<double>(table.size());
    const double value = std::round(inverse(probability) * static_cast<double>(kDistributionScale));
    table[i] = static_cast<std::int16_t>(std::clamp(value, -32768.0, 32767.0));
  }
  return table;
}

}  // namespace

std::span<const std::int16_t> distribution_table(Distribution distribution) {
  static const Table uniform = make_table([](double probability) { return 2 * probability - 1; });
  static const Table normal = make_table(inverse_normal);
  static const Table pareto = make_table(inverse_pareto);
  switch (distribution) {
    case Distribution::normal:
      return normal;
    case Distribution::pareto:
      return pareto;
    case Distribution::uniform:
      break;
  }
  return uniform;
}

Nanoseconds draw_deviation(Distribution distribution, Nanoseconds jitter, std::uint32_t random) {
  const auto table = distribution_table(distribution);
  return jitter * table[random % table.size()] / kDistributionScale;
}

}  // namespace longhaul::degen
