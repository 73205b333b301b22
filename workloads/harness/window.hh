// How long a phase lasts: by duration, and until there are enough samples.
#pragma once

#include <cstdint>

namespace longhaul::workloads {

/// Pure: the loop asks it after each operation.
class Window {
 public:
  /// `duration` in ns.
  Window(std::int64_t duration, std::uint64_t min_samples) : duration_(duration), min_samples_(min_samples) {}

  void open(std::int64_t now) { end_ = now + duration_; }
  bool over(std::int64_t now, std::uint64_t samples) const { return now >= end_ && samples >= min_samples_; }

  std::int64_t duration() const { return duration_; }

 private:
  std::int64_t duration_;
  std::uint64_t min_samples_;
  std::int64_t end_ = 0;
};

/// Counts spins so that a clock is read, and the world looked at, once in a while only. Pure.
class Pace {
 public:
  explicit Pace(std::int64_t interval) : interval_(interval) {}

  /// Whether it is worth reading the clock.
  bool worth_a_look() { return (++spins_ & 255) == 0; }
  /// Whether the interval has passed; begins the next one.
  bool due(std::int64_t now) {
    if (now < next_) return false;
    next_ = now + interval_;
    return true;
  }

 private:
  std::int64_t interval_;
  std::int64_t next_ = 0;
  std::uint32_t spins_ = 0;
};

}  // namespace longhaul::workloads
