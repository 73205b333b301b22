// The end of a phase: by duration, and when there are enough samples.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "model/units.hh"
#include "observe/clock.hh"

namespace longhaul::workloads {

/// Pure: the loop asks it after each operation.
class Window {
 public:
  /// What is waited for, too, but no longer than this.
  struct Wish {
    std::function<bool(std::uint64_t samples)> enough = {};  ///< empty: nothing is
    Nanoseconds patience{};
  };

  Window(Nanoseconds duration, std::uint64_t min_samples) : Window(duration, min_samples, {}) {}
  Window(Nanoseconds duration, std::uint64_t min_samples, Wish wish)
      : duration_(duration), min_samples_(min_samples), wish_(std::move(wish)) {}

  void open(observe::RawTime now) {
    end_ = now + duration_;
    given_up_ = now + wish_.patience;
  }
  bool over(observe::RawTime now, std::uint64_t samples) const {
    return now >= end_ && samples >= min_samples_ && (fulfilled(samples) || now >= given_up_);
  }

  /// The wish: what was measured is enough.
  bool fulfilled(std::uint64_t samples) const { return !wish_.enough || wish_.enough(samples); }

  Nanoseconds duration() const { return duration_; }

 private:
  Nanoseconds duration_;
  std::uint64_t min_samples_;
  Wish wish_;
  observe::RawTime end_;
  observe::RawTime given_up_;
};

/// Counts spins so that a clock is read, and the world looked at, once in a while only. Pure.
class Pace {
 public:
  explicit Pace(Nanoseconds interval) : interval_(interval) {}

  /// True if it is worth reading the clock.
  bool worth_a_look() { return (++spins_ & 255) == 0; }
  /// True if the interval has passed; begins the next one.
  bool due(observe::RawTime now) {
    if (now < next_) return false;
    next_ = now + interval_;
    return true;
  }

 private:
  Nanoseconds interval_;
  observe::RawTime next_;
  std::uint32_t spins_ = 0;
};

}  // namespace longhaul::workloads
