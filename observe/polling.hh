// Time that a process spends looking for what has not come: the rounds of its polling loop that found nothing.
#pragma once

#include <cstdint>

#include "observe/clock.hh"

namespace longhaul::observe {

/// Rounds are counted, not timed: a clock in each would be dearer than the round. What a round takes is timed a few
/// times, over some that follow one another, and the fastest of them counts, so that time in which somebody else had
/// the processor is none of it. One thread's.
class Polling {
 public:
  /// A round found nothing.
  void nothing() {
    ++rounds_;
    ++row_;
    if (timed_ < kTimes && (row_ == kFrom || row_ == kTo)) time_it();
  }
  /// A round found something, or the thread slept.
  void something() {
    row_ = 0;
    used_ = true;
  }

  /// True if this process polls, or could: its loop has run.
  bool used() const { return used_; }
  /// ns since this one was copied as `earlier`; 0 as long as nothing tells what a round takes.
  std::int64_t spent_since(const Polling& earlier) const {
    return static_cast<std::int64_t>(rounds_ - earlier.rounds_) * fastest_ / (kTo - kFrom);
  }

 private:
  static constexpr std::int64_t kFrom = 8, kTo = 24;  // rounds in a row
  static constexpr int kTimes = 64;
  void time_it();

  std::uint64_t rounds_ = 0;
  std::int64_t row_ = 0;
  RawTime begun_;
  std::int64_t fastest_ = 0;  // of kTo - kFrom rounds, ns
  int timed_ = 0;
  bool used_ = false;
};

/// Of the calling thread.
Polling& polling();

}  // namespace longhaul::observe
