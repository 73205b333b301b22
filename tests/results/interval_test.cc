#include "results/statistics/interval.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "results/statistics/ranks.hh"

namespace longhaul::results {
namespace {

using testing::DoubleNear;
using testing::Each;

std::vector<double> count_to(int n) {
  std::vector<double> values;
  for (int i = 1; i <= n; ++i) values.push_back(i);
  return values;
}

TEST(Median, MiddleOrMeanOfTheTwo) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(MedianInterval, NeedsSixRuns) {
  for (int n = 0; n < 6; ++n) EXPECT_FALSE(median_interval(count_to(n))) << n;
  EXPECT_TRUE(median_interval(count_to(6)));
}

// Ranks and levels from the binomial table.
TEST(MedianInterval, ExactRanksAndLevels) {
  struct Case {
    int n;
    double low, high, level;
  };
  for (const auto& [n, low, high, level] :
       {Case{6, 1, 6, 1 - 2.0 / 64}, Case{8, 1, 8, 1 - 2.0 / 256}, Case{9, 2, 8, 1 - 20.0 / 512},
        Case{12, 3, 10, 1 - 158.0 / 4096}, Case{25, 8, 18, 0.956714}, Case{100, 40, 61, 0.964800}}) {
    const auto interval = median_interval(count_to(n));
    ASSERT_TRUE(interval) << n;
    EXPECT_EQ(interval->low, low) << n;
    EXPECT_EQ(interval->high, high) << n;
    EXPECT_NEAR(interval->level, level, 1e-6) << n;
  }
}

TEST(MedianInterval, LargeSamplesDoNotUnderflow) {
  const auto interval = median_interval(count_to(5001));
  ASSERT_TRUE(interval);
  // n/2 -+ 1.96 sqrt(n)/2
  EXPECT_NEAR(interval->low, 2501 - 69, 2);
  EXPECT_NEAR(interval->high, 2501 + 69, 2);
}

TEST(MedianInterval, OtherLevels) {
  EXPECT_FALSE(median_interval(count_to(7), 0.99));
  EXPECT_TRUE(median_interval(count_to(8), 0.99));
  EXPECT_TRUE(median_interval(count_to(5), 0.90));
}

TEST(Precision, HalfWidthAgainstTheMedian) {
  EXPECT_DOUBLE_EQ(*precision(std::vector<double>{95, 98, 99, 101, 102, 105}), 0.05);
  EXPECT_FALSE(precision(count_to(5)));
  EXPECT_EQ(precision(std::vector<double>(6, 0.7)), 0);  // what is computed needs no more runs
  EXPECT_EQ(precision(std::vector<double>(6, 0)), 0);
  EXPECT_FALSE(precision(std::vector<double>{-3, -2, -1, 1, 2, 3}));
}

TEST(MannWhitney, DistributionOfThreeAndTwo) {
  // All ten choices written out: U = 0, 1, 2, 2, 3, 3, 4, 4, 5, 6.
  const std::vector<double> expected{0.1, 0.1, 0.2, 0.2, 0.2, 0.1, 0.1};
  const auto pmf = mann_whitney_pmf(3, 2);
  ASSERT_EQ(pmf.size(), expected.size());
  for (std::size_t u = 0; u < pmf.size(); ++u) EXPECT_NEAR(pmf[u], expected[u], 1e-15) << u;
}

TEST(MannWhitney, SumsToOneAndIsSymmetric) {
  for (const auto& [n, m] : {std::pair{1, 1}, {6, 6}, {4, 9}, {12, 30}, {50, 50}}) {
    const auto pmf = mann_whitney_pmf(static_cast<std::size_t>(n), static_cast<std::size_t>(m));
    double total = 0;
    for (std::size_t u = 0; u < pmf.size(); ++u) {
      total += pmf[u];
      EXPECT_NEAR(pmf[u], pmf[pmf.size() - 1 - u], 1e-14);
    }
    EXPECT_NEAR(total, 1, 1e-12);
  }
}

// Published critical values of U, two-sided 5 % (Siegel's table J): the largest U that is significant, so one less than
// the rank.
TEST(MannWhitney, CriticalValuesOfTheTables) {
  struct Case {
    std::size_t n, m, critical;
  };
  for (const auto& [n, m, critical] :
       {Case{4, 4, 0}, Case{3, 5, 0}, Case{5, 5, 2}, Case{6, 6, 5}, Case{7, 7, 8}, Case{8, 8, 13}, Case{5, 8, 6},
        Case{10, 10, 23}, Case{12, 12, 37}, Case{20, 20, 127}, Case{9, 20, 48}})
    EXPECT_EQ(mann_whitney_rank(n, m, 0.025), critical + 1) << n << "," << m;
  EXPECT_EQ(mann_whitney_rank(3, 4, 0.025), 0U);
  EXPECT_EQ(mann_whitney_rank(0, 4, 0.025), 0U);
}

TEST(MannWhitney, ApproximationContinuesTheExactRanks) {
  const auto exact = static_cast<double>(mann_whitney_rank(50, 50, 0.025));
  const auto approximate = static_cast<double>(mann_whitney_rank(51, 51, 0.025));
  EXPECT_GT(approximate, exact);
  EXPECT_LT(approximate, exact * 1.06);
}

TEST(SignedRank, DistributionOfThree) {
  // All eight choices of signs written out: W = 0, 1, 2, 3, 3, 4, 5, 6.
  const std::vector<double> expected{0.125, 0.125, 0.125, 0.25, 0.125, 0.125, 0.125};
  const auto pmf = signed_rank_pmf(3);
  ASSERT_EQ(pmf.size(), expected.size());
  for (std::size_t w = 0; w < pmf.size(); ++w) EXPECT_NEAR(pmf[w], expected[w], 1e-15) << w;
  double total = 0;
  for (const double one : signed_rank_pmf(50)) total += one;
  EXPECT_NEAR(total, 1, 1e-12);
}

// Published critical values of W, two-sided 5 % (Siegel's table G): the largest W that is significant, so one less than
// the rank.
TEST(SignedRank, CriticalValuesOfTheTables) {
  for (const auto& [n, critical] :
       {std::pair{6, 0}, {7, 2}, {8, 3}, {9, 5}, {10, 8}, {12, 13}, {15, 25}, {20, 52}, {25, 89}})
    EXPECT_EQ(signed_rank_rank(static_cast<std::size_t>(n), 0.025), static_cast<std::size_t>(critical) + 1) << n;
  EXPECT_EQ(signed_rank_rank(5, 0.025), 0U);
  EXPECT_EQ(signed_rank_rank(0, 0.025), 0U);
  EXPECT_GT(signed_rank_rank(51, 0.025), signed_rank_rank(50, 0.025));
  EXPECT_LT(static_cast<double>(signed_rank_rank(51, 0.025)), 1.06 * static_cast<double>(signed_rank_rank(50, 0.025)));
}

TEST(NormalQuantile, KnownValues) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-13);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 1e-12);
}

TEST(RatioInterval, SixAgainstSixByHand) {
  // Powers of two: the 36 log ratios are integers times log 2, d = i - j + 3, in -2 .. 8.
  std::vector<double> a, b;
  for (int i = 0; i < 6; ++i) {
    a.push_back(std::exp2(i + 3));
    b.push_back(std::exp2(i));
  }
  const auto ratio = ratio_interval(a, b);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->value, 8, 1e-12);
  ASSERT_TRUE(ratio->interval);
  // Sorted: -2, -1 twice, 0 three times: the sixth is 0; from above 6.
  EXPECT_NEAR(ratio->interval->low, 1, 1e-12);
  EXPECT_NEAR(ratio->interval->high, 64, 1e-9);
  EXPECT_NEAR(ratio->interval->level, 1 - 2 * 19.0 / 924, 1e-12);
}

TEST(RatioInterval, TooFewRunsGiveAnEstimateAlone) {
  const auto ratio = ratio_interval(count_to(3), count_to(4));
  ASSERT_TRUE(ratio);
  EXPECT_FALSE(ratio->interval);
}

TEST(RatioInterval, RefusesWhatHasNoLogarithm) {
  EXPECT_FALSE(ratio_interval({}, count_to(4)));
  EXPECT_FALSE(ratio_interval(std::vector<double>{1, 0, 2, 3}, count_to(4)));
  EXPECT_FALSE(ratio_interval(count_to(4), std::vector<double>{1, -1, 2, 3}));
  EXPECT_FALSE(ratio_interval(count_to(4), std::vector<double>{1, INFINITY, 2, 3}));
}

TEST(RatioInterval, AllTiedIsOnePoint) {
  const std::vector<double> same(6, 42.0);
  const auto ratio = ratio_interval(same, same);
  ASSERT_TRUE(ratio && ratio->interval);
  EXPECT_EQ(ratio->value, 1);
  EXPECT_EQ(ratio->interval->low, 1);
  EXPECT_EQ(ratio->interval->high, 1);
}

// The engine is the standard's, bit for bit; its distributions are not.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_()) + 0.5) / 4294967296.0; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); }

 private:
  std::mt19937 engine_;
};

struct Law {
  const char* name;
  std::function<double(Draw&)> draw;
  double median;
};

const std::vector<Law>& laws() {
  static const std::vector<Law> all{
      {"uniform", [](Draw& d) { return 1 + d.uniform(); }, 1.5},
      {"lognormal", [](Draw& d) { return std::exp(0.3 * d.normal()); }, 1},
      {"exponential", [](Draw& d) { return 1e-9 - std::log(d.uniform()); }, std::log(2) + 1e-9},
      {"heavy tail", [](Draw& d) { return std::pow(d.uniform(), -0.9); }, std::pow(2, 0.9)},
      {"ties", [](Draw& d) { return std::floor(5 * d.uniform()) + 1; }, 3},
  };
  return all;
}

TEST(MedianInterval, CoversTheMedianAsOftenAsItSays) {
  constexpr int kTrials = 3000;
  for (const auto& law : laws()) {
    for (const int n : {6, 9, 12}) {
      Draw draw{7};
      int covered = 0;
      double level = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> values;
        for (int i = 0; i < n; ++i) values.push_back(law.draw(draw));
        const auto interval = median_interval(values);
        level = interval->level;
        covered += interval->contains(law.median) ? 1 : 0;
      }
      const double share = covered / static_cast<double>(kTrials);
      const double error = 4 * std::sqrt(0.05 * 0.95 / kTrials);
      EXPECT_GE(share, level - error) << law.name << " " << n;
      // Without ties the level is not only reached but met.
      if (std::string{law.name} != "ties") {
        EXPECT_LE(share, level + error) << law.name << " " << n;
      }
    }
  }
}

TEST(RatioInterval, CoversTheRatioAsOftenAsItSays) {
  constexpr int kTrials = 2000;
  constexpr double kRatio = 3.7;
  for (const auto& law : laws()) {
    for (const auto& [n, m] : {std::pair{6, 6}, {4, 9}, {12, 12}}) {
      Draw draw{11};
      int covered = 0;
      double level = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> a, b;
        for (int i = 0; i < n; ++i) a.push_back(kRatio * law.draw(draw));
        for (int i = 0; i < m; ++i) b.push_back(law.draw(draw));
        const auto ratio = ratio_interval(a, b);
        level = ratio->interval->level;
        // The logarithms' rounding must not decide a tie.
        covered +=
            ratio->interval->low <= kRatio * (1 + 1e-12) && ratio->interval->high >= kRatio * (1 - 1e-12) ? 1 : 0;
      }
      const double share = covered / static_cast<double>(kTrials);
      const double error = 4 * std::sqrt(0.05 * 0.95 / kTrials);
      EXPECT_GE(share, level - error) << law.name << " " << n << "," << m;
      if (std::string{law.name} != "ties") {
        EXPECT_LE(share, level + error) << law.name << " " << n << "," << m;
      }
    }
  }
}

TEST(PairedRatioInterval, SixPairsByHand) {
  // The ratios are powers of two, 2^1 .. 2^6: of six pairs the interval is the least and the largest.
  std::vector<double> a, b;
  for (int i = 1; i <= 6; ++i) {
    b.push_back(3.0 * i);
    a.push_back(b.back() * std::exp2(i));
  }
  const auto ratio = paired_ratio_interval(a, b);
  ASSERT_TRUE(ratio && ratio->interval);
  EXPECT_NEAR(ratio->value, std::exp2(3.5), 1e-12);
  EXPECT_NEAR(ratio->interval->low, 2, 1e-12);
  EXPECT_NEAR(ratio->interval->high, 64, 1e-11);
  EXPECT_NEAR(ratio->interval->level, 1 - 2.0 / 64, 1e-12);
  EXPECT_FALSE(paired_ratio_interval(count_to(5), count_to(5))->interval);
  EXPECT_FALSE(paired_ratio_interval(count_to(5), count_to(6)));
  EXPECT_FALSE(paired_ratio_interval({}, {}));
  EXPECT_FALSE(paired_ratio_interval(std::vector<double>{0, 1}, count_to(2)));
}

// What pairs have in common, ten times as large as what tells them apart, does not widen it.
TEST(PairedRatioInterval, CoversTheRatioAsOftenAsItSays) {
  constexpr int kTrials = 2000;
  constexpr double kRatio = 1.01;
  for (const int n : {6, 10, 16}) {
    Draw draw{5};
    int covered = 0;
    double level = 0, widest = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> a, b;
      for (int i = 0; i < n; ++i) {
        const double common = std::exp(0.1 * draw.normal());
        a.push_back(kRatio * common * std::exp(0.001 * draw.normal()));
        b.push_back(common * std::exp(0.001 * draw.normal()));
      }
      const auto ratio = paired_ratio_interval(a, b);
      level = ratio->interval->level;
      covered += ratio->interval->contains(kRatio) ? 1 : 0;
      widest = std::max(widest, ratio->interval->high - ratio->interval->low);
    }
    EXPECT_NEAR(covered / static_cast<double>(kTrials), level, 4 * std::sqrt(0.05 * 0.95 / kTrials)) << n;
    EXPECT_LT(widest, 0.02);
  }
}

TEST(RatioInterval, OrderAndScaleDoNotMatter) {
  Draw draw{3};
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> a, b;
    for (int i = 0; i < 6 + trial % 5; ++i) a.push_back(std::exp(draw.normal()));
    for (int i = 0; i < 6 + trial % 3; ++i) b.push_back(std::exp(draw.normal()));
    const auto plain = ratio_interval(a, b);
    std::reverse(a.begin(), a.end());
    EXPECT_EQ(ratio_interval(a, b)->interval, plain->interval);
    const auto inverse = ratio_interval(b, a);
    EXPECT_NEAR(inverse->value, 1 / plain->value, 1e-12 / plain->value);
    EXPECT_NEAR(inverse->interval->low * plain->interval->high, 1, 1e-12);
    for (auto& value : a) value *= 1e6;
    EXPECT_NEAR(ratio_interval(a, b)->value / plain->value, 1e6, 1e-3);
    EXPECT_TRUE(plain->interval->contains(plain->value));
  }
}

// Wherever the first guess lies.
TEST(Ranks, AreTheLargestWithinTheTail) {
  for (std::size_t n = 1; n <= 150; ++n)
    for (const double tail : {0.4, 0.1, 0.05, 0.025, 0.01, 0.001, 1e-5}) {
      const auto k = binomial_half_rank(n, tail);
      if (k > 0) {
        EXPECT_LE(binomial_half_cdf(n, k - 1), tail) << n;
      }
      EXPECT_GT(binomial_half_cdf(n, k), tail) << n;
    }
}

TEST(Ranks, ATailThatIsMetExactlyIsWithinIt) {
  EXPECT_EQ(mann_whitney_rank(1, 1, 0.5), 1U);
  EXPECT_EQ(mann_whitney_rank(2, 2, 1.0 / 6), 1U);
  EXPECT_EQ(binomial_half_rank(1, 0.5), 1U);
}

}  // namespace
}  // namespace longhaul::results
