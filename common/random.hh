// A small generator whose sequence is ours: std::shuffle and the distributions of <random> differ between libraries,
// and what is drawn from a seed must be the same forever.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace longhaul {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound), without bias. bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    for (;;) {
      const auto value = next();
      if (value >= threshold) return value % bound;
    }
  }

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// Fisher and Yates, from the back.
template <typename T>
void shuffle(std::vector<T>& items, Random& random) {
  for (auto left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.below(left)]);
}

}  // namespace longhaul
