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

/// wall_time() less raw_time(): changes when somebody sets the wall clock.
inline std::int64_t wall_offset() {
  // Between the two reads the process may have been off its processor: the closest pair of a few.
  std::int64_t closest = 0;
  std::int64_t offset = 0;
  for (int i = 0; i < 5; ++i) {
    const auto before = raw_time();
    const auto wall = wall_time();
    const auto apart = raw_time() - before;
    if (i > 0 && apart >= closest) continue;
    closest = apart;
    offset = wall - (before + apart / 2);
  }
  return offset;
}

}  // namespace longhaul::observe
