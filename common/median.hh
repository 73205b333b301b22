// The median of what one run measured. (That of runs, with its interval, is results/statistics.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace longhaul {

/// The middle value, of an even number the greater of the two: always one that was measured. T{} where there are none.
/// Reorders `values`, allocates nothing.
template <typename T>
T upper_median(std::span<T> values) {
  if (values.empty()) return T{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename T>
T upper_median(std::vector<T> values) {
  return upper_median(std::span{values});
}

}  // namespace longhaul
