#include "model/histogram.hh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace longhaul {
namespace {

// Why this is not the library HdrHistogram_c: Debian 12 has no package of it, and its buckets are not ours. Ours stand
// in every record (alternating index and count), whose schema is settled, and histograms of runs are pooled bucket by
// bucket: with another layout what was recorded before could not be pooled with what is recorded now.

// 2^kBits buckets per power of two. Bucket index of v >= 2^(kBits+1): the top kBits+1 bits of v select it.
constexpr int kBits = 8;
constexpr int kTopBit = 45;
constexpr std::int64_t kMax = (std::int64_t{1} << kTopBit) - 1;
// 78 hours of one sample a nanosecond. That many runs can be pooled without an overflow, too.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 48;
constexpr std::size_t kBuckets = static_cast<std::size_t>(kTopBit - kBits + 1) << kBits;

std::size_t index_of(std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  const auto width = static_cast<int>(std::bit_width(v));
  if (width <= kBits + 1) return static_cast<std::size_t>(v);
  const int shift = width - kBits - 1;
  return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(v >> shift);
}

double midpoint(std::size_t index) {
  if (index < (std::size_t{2} << kBits)) return static_cast<double>(index);
  const auto shift = (index >> kBits) - 1;
  const auto low = ((index & ((1U << kBits) - 1)) + (1U << kBits)) << shift;
  return static_cast<double>(low) + (std::ldexp(1.0, static_cast<int>(shift)) - 1) / 2;
}

}  // namespace

Histogram::Histogram() : counts_(kBuckets) {}

void Histogram::record(std::int64_t value, std::uint64_t times) {
  if (times == 0) return;
  value = std::clamp<std::int64_t>(value, 0, kMax);
  counts_[index_of(value)] += times;
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  count_ += times;
  sum_ += static_cast<double>(value) * static_cast<double>(times);
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  sum_ += other.sum_;
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

double Histogram::quantile(double fraction) const {
  if (count_ == 0) return 0;
  const auto wanted =
      static_cast<std::uint64_t>(std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_)));
  const auto rank = std::max<std::uint64_t>(1, wanted);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(midpoint(i), static_cast<double>(min_), static_cast<double>(max_));
  }
  return static_cast<double>(max_);
}

std::vector<std::uint64_t> Histogram::buckets() const {
  std::vector<std::uint64_t> pairs;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] == 0) continue;
    pairs.push_back(i);
    pairs.push_back(counts_[i]);
  }
  return pairs;
}

Histogram Histogram::from_buckets(const std::vector<std::uint64_t>& pairs, std::int64_t min, std::int64_t max,
                                  double sum) {
  if (pairs.size() % 2 != 0) throw std::out_of_range("histogram buckets come in pairs");
  // Before anything is allocated: a node sends it.
  if (pairs.size() > 2 * kBuckets) throw std::out_of_range("more histogram buckets than there are");
  if (min < 0 || max < min || max > kMax) throw std::out_of_range("extremes of a histogram that cannot be");
  if (!std::isfinite(sum)) throw std::out_of_range("sum of a histogram that is no number");
  Histogram h;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i] >= kBuckets) throw std::out_of_range("histogram bucket index out of range");
    if (pairs[i + 1] > kMostSamples - h.count_) throw std::out_of_range("more samples in a histogram than can be");
    h.counts_[static_cast<std::size_t>(pairs[i])] += pairs[i + 1];
    h.count_ += pairs[i + 1];
  }
  if (h.count_ == 0 && max != 0) throw std::out_of_range("extremes of a histogram without samples");
  h.min_ = min;
  h.max_ = max;
  h.sum_ = sum;
  return h;
}

}  // namespace longhaul
