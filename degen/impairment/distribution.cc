#include "degen/impairment/distribution.hh"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/pareto.hpp>
#include <cmath>

namespace longhaul::degen {
namespace {

using Table = std::array<std::int16_t, kDistributionSize>;

double inverse_normal(double probability) {
  return boost::math::quantile(boost::math::normal{}, probability);
}

// Pareto with shape 3 (as iproute2's pareto.dist) moved to mean 0 and scaled to standard deviation 1.
double inverse_pareto(double probability) {
  const boost::math::pareto pareto{1, 3};
  return (boost::math::quantile(pareto, probability) - boost::math::mean(pareto)) /
         boost::math::standard_deviation(pareto);
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
