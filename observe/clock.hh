// The clock of every measured interval.
#pragma once

#include <time.h>

#include <cstdint>

namespace longhaul::observe {

/// CLOCK_MONOTONIC_RAW in ns: no frequency steering, so that two intervals compare.
inline std::int64_t raw_time() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

/// CLOCK_REALTIME in ns since the epoch: for records and events, not for intervals.
inline std::int64_t wall_time() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

}  // namespace longhaul::observe
