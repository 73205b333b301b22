// Physical values in integer base units (nanoseconds, bytes, bit/s, parts per million) and their spelling.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.hh"

namespace longhaul {

using Nanoseconds = std::chrono::nanoseconds;

/// The number of times `unit` goes into `time`.
inline double ratio(Nanoseconds time, Nanoseconds unit) {
  return static_cast<double>(time.count()) / static_cast<double>(unit.count());
}

struct Bytes {
  std::int64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

struct BitRate {
  std::int64_t bits_per_second = 0;  ///< 0: unlimited
  auto operator<=>(const BitRate&) const = default;
};

struct Ppm {
  std::int64_t parts = 0;  ///< of a million
  auto operator<=>(const Ppm&) const = default;
};

/// Bytes that a link holds in `time`, rounded up: rate x time / 8. The bandwidth-delay product when `time` is a RTT.
Bytes bytes_in_flight(BitRate rate, Nanoseconds time);

/// The physical kind of a value; it decides its spelling. Base units in brackets.
enum class Kind {
  duration,  ///< [ns]     5ms, 1.5us, 2s, 0
  size,      ///< [byte]   64B, 16KiB, 4MiB, 1kB; a bare number is bytes
  rate,      ///< [bit/s]  100Mbit/s, 1Gbit/s, 10Gbps; 0 or "unlimited": no limit
  fraction,  ///< [ppm]    0.1%, 1000ppm, 0
  count,     ///< [1]      17
  flag,      ///< [0/1]    true, false, yes, no
  choice     ///< text, one of a list (or any text where the list is empty)
};

/// Reads a number with its unit exactly (no floating point on the way). `choice` is refused here: it is text.
/// The error says what was expected, e.g. "expected a duration such as 5ms, 1.5us or 2s, got '5 parsecs'".
Result<std::int64_t> parse_quantity(Kind kind, std::string_view text);

/// The shortest exact spelling that parse_quantity reads back: 5000000 ns -> "5ms".
std::string format_quantity(Kind kind, std::int64_t value);

/// "ns", "bytes", "bit/s", "ppm", "" ...
std::string_view base_unit(Kind kind);

}  // namespace longhaul
