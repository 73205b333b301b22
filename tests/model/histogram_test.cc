#include "model/histogram.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

namespace longhaul {
namespace {

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  for (int i = 0; i <= 500; ++i) h.record(i);
  EXPECT_EQ(h.count(), 501U);
  EXPECT_EQ(h.quantile(0.5), 250);
  EXPECT_EQ(h.quantile(0), 0);
  EXPECT_EQ(h.quantile(1), 500);
  EXPECT_DOUBLE_EQ(h.mean(), 250);
}

TEST(Histogram, QuantilesAreWithinHalfAPercent) {
  std::mt19937_64 random{42};
  std::lognormal_distribution<double> latency{11, 2};
  Histogram h;
  std::vector<std::int64_t> all;
  for (int i = 0; i < 100'000; ++i) {
    all.push_back(static_cast<std::int64_t>(latency(random)));
    h.record(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999, 0.9999}) {
    const auto exact = static_cast<double>(all[static_cast<std::size_t>(q * 100'000) - 1]);
    EXPECT_NEAR(h.quantile(q), exact, exact * 0.005 + 1) << q;
  }
  EXPECT_EQ(h.min(), all.front());
  EXPECT_EQ(h.max(), all.back());
}

TEST(Histogram, MergingEqualsRecordingTogether) {
  Histogram a, b, both;
  for (int i = 1; i < 10'000; i += 3) {
    const std::int64_t value = std::int64_t{i} * i;
    (i % 2 == 0 ? a : b).record(value);
    both.record(value);
  }
  a.merge(b);
  EXPECT_EQ(a.buckets(), both.buckets());
  EXPECT_EQ(a.min(), both.min());
  EXPECT_EQ(a.max(), both.max());
  EXPECT_DOUBLE_EQ(a.sum(), both.sum());
  a.merge(Histogram{});
  EXPECT_EQ(a.count(), both.count());
}

TEST(Histogram, BucketsGoThereAndBack) {
  Histogram h;
  h.record(3, 7);
  h.record(123'456'789);
  h.record(std::int64_t{1} << 60);  // clamped
  const auto back = Histogram::from_buckets(h.buckets(), h.min(), h.max(), h.sum());
  EXPECT_EQ(back.buckets(), h.buckets());
  EXPECT_EQ(back.quantile(0.99), h.quantile(0.99));
  EXPECT_THROW(Histogram::from_buckets({1}, 0, 0, 0), std::out_of_range);
  EXPECT_THROW(Histogram::from_buckets({1'000'000, 1}, 0, 0, 0), std::out_of_range);
}

// A node sends it: counts that overflow, and extremes in whose wrong order std::clamp has no meaning.
TEST(Histogram, WhatNoRecordingGivesIsRefused) {
  const auto most = std::uint64_t{1} << 48;
  EXPECT_EQ(Histogram::from_buckets({5, most}, 5, 5, 0).count(), most);
  EXPECT_THROW(Histogram::from_buckets({5, most, 6, 1}, 5, 6, 0), std::out_of_range);
  EXPECT_THROW(Histogram::from_buckets({5, most, 6, ~std::uint64_t{0}}, 5, 6, 0), std::out_of_range);
  EXPECT_THROW(Histogram::from_buckets({5, 1}, 6, 5, 5), std::out_of_range);
  EXPECT_THROW(Histogram::from_buckets({}, 0, 5, 5), std::out_of_range) << "an empty one has none";
  EXPECT_THROW(Histogram::from_buckets({5, 1}, -1, 5, 5), std::out_of_range);
  EXPECT_THROW(Histogram::from_buckets({5, 1}, 5, std::int64_t{1} << 45, 5), std::out_of_range);
  EXPECT_THROW(Histogram::from_buckets({5, 1}, 5, 5, std::numeric_limits<double>::infinity()), std::out_of_range);
  EXPECT_THROW(Histogram::from_buckets(std::vector<std::uint64_t>(100'000, 1), 0, 0, 0), std::out_of_range);
}

TEST(Histogram, EmptyAnswersZero) {
  const Histogram h;
  EXPECT_EQ(h.quantile(0.5), 0);
  EXPECT_EQ(h.mean(), 0);
}

}  // namespace
}  // namespace longhaul
