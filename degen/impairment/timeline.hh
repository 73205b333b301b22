// A direction's schedule as it is played: what holds at a time, and how long bytes take on a link whose rate changes
// while they are on it. Pure.
#pragma once

#include <vector>

#include "degen/impairment/spec.hh"

namespace longhaul::degen {

/// What holds from a time on until the next.
struct Moment {
  Nanoseconds at{0};
  Nanoseconds delay{0};
  Ppm loss;
  LinkRate rate;  ///< 0 and not down: unlimited, at all times then
  bool operator==(const Moment&) const = default;
};

/// A moment, and the time for which it holds.
struct Span {
  const Moment& moment;
  Nanoseconds from{0};
  Nanoseconds to{0};  ///< Nanoseconds::max(): for ever
};

class Timeline {
 public:
  /// `begin`: when the schedule begins, on the clock of all times here.
  Timeline(const Direction& direction, Nanoseconds begin);

  const Moment& at(Nanoseconds time) const { return moments_[position(time).moment]; }
  /// What holds then. Before the schedule begins its first moment does.
  Span span(Nanoseconds time) const;

  /// When so many bytes are off the link that begins with them at `start`.
  Nanoseconds off_link(Nanoseconds start, std::int64_t bytes) const;

  /// Bytes that the link sends in this time where it is never idle.
  double sent(Nanoseconds from, Nanoseconds to) const;

  const std::vector<Moment>& moments() const { return moments_; }
  /// When this moment ends, since the schedule began; Nanoseconds::max(): never.
  Nanoseconds end_of(std::size_t moment) const;

 private:
  struct Position {
    std::size_t moment = 0;
    Nanoseconds in{0};  // since the schedule began, or began anew
  };
  Position position(Nanoseconds time) const;
  /// The moment that follows, from its begin.
  Position next(const Position& position) const;

  std::vector<Moment> moments_;  // the first at 0
  Nanoseconds repeat_;
  Nanoseconds begin_;
};

}  // namespace longhaul::degen
