#include "results/statistics/line.hh"

#include <gtest/gtest.h>

namespace longhaul::results {
namespace {

TEST(FitLine, GivesTheLineBack) {
  std::vector<LinePoint> points;
  for (const double pages : {1.0, 8.0, 64.0, 4096.0}) {
    LinePoint point{pages, {}};
    for (int run = 0; run < 6; ++run) point.values.push_back((1 + 0.01 * run) * (770 * pages + 7420));
    points.push_back(point);
  }
  const auto fit = fit_line(points);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->slope, 770 * 1.025, 0.01);
  EXPECT_NEAR(fit->intercept, 7420 * 1.025, 0.1);
  ASSERT_TRUE(fit->slope_interval);
  EXPECT_NEAR(fit->slope_interval->low, 770, 0.01);
  EXPECT_NEAR(fit->slope_interval->high, 770 * 1.05, 0.01);
  EXPECT_EQ(fit->slopes.size(), 6U);
}

// Absolute deviations would let the largest decide alone.
TEST(FitLine, SmallPlacesCountAsMuchAsLargeOnes) {
  const auto fit = fit_line({{1, {8190}}, {2, {8960}}, {65536, {1.1 * (770 * 65536 + 7420)}}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->intercept, 7420, 200);
  EXPECT_FALSE(fit->intercept_interval);  // one run
}

TEST(FitLine, OnePlaceIsNoLine) {
  EXPECT_FALSE(fit_line({{1, {1, 2}}}));
  EXPECT_FALSE(fit_line({{1, {1, 2}}, {1, {1, 2}}}));
  EXPECT_FALSE(fit_line({{1, {1, 2}}, {2, {}}}));
}

}  // namespace
}  // namespace longhaul::results
