// The clock of every measured interval.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace longhaul::observe {

/// CLOCK_MONOTONIC_RAW: no frequency steering, so that two intervals compare.
struct RawClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<RawClock>;
  static constexpr bool is_steady = true;

  static time_point now() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
  }
};
using RawTime = RawClock::time_point;

inline RawTime raw_time() {
  return RawClock::now();
}

/// As records, messages and packets have it: ns since the clock's own zero.
inline std::int64_t to_ns(RawTime time) {
  return time.time_since_epoch().count();
}
inline RawTime from_ns(std::int64_t ns) {
  return RawTime{std::chrono::nanoseconds{ns}};
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
  std::chrono::nanoseconds closest{};
  std::int64_t offset = 0;
  for (int i = 0; i < 5; ++i) {
    const auto before = raw_time();
    const auto wall = wall_time();
    const auto apart = raw_time() - before;
    if (i > 0 && apart >= closest) continue;
    closest = apart;
    offset = wall - to_ns(before + apart / 2);
  }
  return offset;
}

}  // namespace longhaul::observe
