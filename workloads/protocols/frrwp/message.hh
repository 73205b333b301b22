// What the two ends of a transfer tell one another (docs/frrwp.md has the layout byte by byte). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/result.hh"
#include "workloads/protocols/segments.hh"

namespace longhaul::workloads::frrwp {

inline constexpr std::uint16_t kWireVersion = 1;

/// Names a transfer: the paper's CWTAG. Whoever begins transfers chooses it, and never the same one twice.
using Tag = std::uint64_t;

enum class Kind : std::uint16_t {
  start = 1,  ///< a transfer begins; with the sink's places where it knows them already
  key,        ///< the sink's segments
  stcrw,      ///< the same for a conditional write (send tag for CRW): whoever holds the write matches and submits it
  fin,        ///< behind the data: all of it is there
  closed,     ///< the other end is through, and when each of its phases was
  refuse,     ///< the transfer is given up, and why
  credit      ///< says `taken`, and nothing else
};
const char* to_text(Kind kind);

/// When the phases of a transfer were at one end: observe::raw_time() there; 0: this end did not have it.
struct Moments {
  std::int64_t started = 0;      ///< the operation began; at the other end: its START came
  std::int64_t told = 0;         ///< START sent (who began it)
  std::int64_t registering = 0;  ///< began
  std::int64_t registered = 0;
  std::int64_t key_sent = 0;  ///< by the sink
  std::int64_t key_came = 0;  ///< at the source
  std::int64_t posted = 0;    ///< the write: the end of the critical path
  std::int64_t arrived = 0;   ///< the data, at the sink
  std::int64_t released = 0;  ///< the buffer was given back
  bool operator==(const Moments&) const = default;
};

struct Message {
  Kind kind = Kind::start;
  Tag tag = 0;
  std::uint64_t length = 0;       ///< of the transfer
  std::vector<Segment> segments;  ///< start, key, stcrw
  Moments moments;                ///< closed
  std::string reason;             ///< refuse; cut at kLongestReason
  std::uint32_t taken = 0;  ///< messages that the sender has taken so far, modulo 2^32: their receives are posted again
  bool operator==(const Message&) const = default;
};

inline constexpr std::size_t kHeaderSize = 32;
inline constexpr std::size_t kLongestReason = 512;
inline constexpr std::size_t kMessageSize = kHeaderSize + kMostSegments * sizeof(Segment);  ///< the largest

/// Returns the length. Throws std::runtime_error where there are too many segments.
std::size_t encode(std::span<std::byte> bytes, const Message& message);
/// Refuses another version, an unknown kind, and what is not whole.
Result<Message> decode(std::span<const std::byte> bytes);

}  // namespace longhaul::workloads::frrwp
