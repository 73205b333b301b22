// Faults to the packet: what happens to single packets of one direction, by their number. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "model/units.hh"

namespace longhaul::degen {

/// What happens to packets first to last (inclusive). The first packet of a direction after the impairment was put in
/// place is 1; degen's own probes have no number.
struct Fault {
  enum class Kind {
    drop,
    delay,     ///< it leaves `by` later, and those behind it do not wait for it
    swap,      ///< it leaves behind the one that follows it
    duplicate  ///< it leaves twice
  } kind = Kind::drop;
  std::uint32_t first = 1;
  std::uint32_t last = 1;
  Nanoseconds by{0};  ///< of delay

  bool operator==(const Fault&) const = default;
  bool hits(std::uint32_t number) const { return number >= first && number <= last; }
};

/// Of one direction.
struct Faults {
  bool numbered = false;  ///< packets are numbered and counted, if only to know how many there are
  std::vector<Fault> list;

  bool operator==(const Faults&) const = default;
  bool none() const { return !numbered; }
  /// What hits this packet; nullptr: nothing.
  const Fault* of(std::uint32_t number) const;
};

/// The most faults of a direction, and the highest number.
inline constexpr std::size_t kMostFaults = 64;
inline constexpr std::uint32_t kHighestNumber = 100'000'000;
inline constexpr Nanoseconds kLongestFault = std::chrono::seconds{10};

/// "none"; "count": nothing happens, packets are only counted; or a list such as "drop 17, drop 20-22, duplicate 5,
/// delay 9 by 3ms, swap 11". Refuses what cannot be read, and two faults of one packet.
Result<Faults> parse_faults(std::string_view text);

/// The shortest text that parse_faults reads back to the same.
std::string to_text(const Faults& faults);

}  // namespace longhaul::degen
