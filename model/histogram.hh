// A mergeable log-linear histogram of non-negative integers (nanoseconds), in the manner of HdrHistogram.
#pragma once

#include <cstdint>
#include <vector>

namespace longhaul {

/// Values below 512 are exact; above, a bucket is at most 1/256 (0.4 %) of its value wide. Recording is a few
/// instructions and does not allocate. Values are clamped to [0, 2^45) (9.7 hours in ns).
class Histogram {
 public:
  Histogram();

  void record(std::int64_t value, std::uint64_t times = 1);
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  std::int64_t min() const { return min_; }  ///< exact; 0 when empty
  std::int64_t max() const { return max_; }  ///< exact; 0 when empty
  double mean() const;                       ///< exact; 0 when empty

  /// The smallest value such that at least `fraction` of all values are at most it (bucket midpoint, clamped to
  /// [min, max]). 0 when empty. fraction in [0, 1].
  double quantile(double fraction) const;

  /// The non-empty buckets as alternating index and count, for the record.
  std::vector<std::uint64_t> buckets() const;
  /// The inverse; indices out of range throw std::out_of_range.
  static Histogram from_buckets(const std::vector<std::uint64_t>& pairs, std::int64_t min, std::int64_t max,
                                double sum);
  double sum() const { return sum_; }

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace longhaul
