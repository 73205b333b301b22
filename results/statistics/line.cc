#include "results/statistics/line.hh"

#include <algorithm>
#include <limits>

namespace longhaul::results {

std::optional<LineFit> fit_line(const std::vector<LinePoint>& points) {
  if (points.size() < 2) return std::nullopt;
  auto runs = std::numeric_limits<std::size_t>::max();
  for (const auto& point : points) runs = std::min(runs, point.values.size());
  LineFit fit;
  for (std::size_t run = 0; run < runs; ++run) {
    // Minimises the sum of ((a x + b - y) / y)^2.
    double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
    for (const auto& point : points) {
      const auto y = point.values[run];
      const auto weight = 1 / (y * y);
      w += weight;
      wx += weight * point.x;
      wxx += weight * point.x * point.x;
      wy += weight * y;
      wxy += weight * point.x * y;
    }
    const auto determinant = w * wxx - wx * wx;
    if (determinant <= 0) return std::nullopt;
    fit.slopes.push_back((w * wxy - wx * wy) / determinant);
    fit.intercepts.push_back((wxx * wy - wx * wxy) / determinant);
  }
  if (fit.slopes.empty()) return std::nullopt;
  fit.slope = median(fit.slopes);
  fit.intercept = median(fit.intercepts);
  fit.slope_interval = median_interval(fit.slopes);
  fit.intercept_interval = median_interval(fit.intercepts);
  return fit;
}

}  // namespace longhaul::results
