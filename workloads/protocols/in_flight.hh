// The number of messages that a stream keeps under way by default: twice what the path has been seen to deliver in a
// round trip (as BBR does, draft-cardwell-iccrg-bbr-congestion-control). A link's nominal rate is no guide: a queue
// that is full of it takes seconds to drain where the processor, the provider's window or the emulated WAN delivers
// less. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/units.hh"
#include "observe/clock.hh"

namespace longhaul::workloads::stream {

class InFlightLimit {
 public:
  /// `most`: messages that the queue holds. `round_trip`: of the unloaded path.
  InFlightLimit(std::size_t most, Nanoseconds round_trip);

  std::size_t size() const { return size_; }
  /// `count` messages have been delivered; `posted` were posted so far, in all.
  void delivered(std::size_t count, std::uint64_t posted, observe::RawTime now);

 private:
  static constexpr std::size_t kRounds = 10;  // that a rate is remembered for

  std::size_t most_;
  Nanoseconds round_trip_;
  std::size_t size_;
  std::uint64_t delivered_ = 0;
  std::array<double, kRounds> rates_{};  // messages a ns
  std::size_t round_ = 0;
  std::uint64_t round_from_ = 0;  // delivered when the round began
  std::uint64_t round_to_ = 0;    // posted by then: what the round waits for
  std::optional<observe::RawTime> round_began_;
};

}  // namespace longhaul::workloads::stream
