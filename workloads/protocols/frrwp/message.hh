// The messages between the two ends of a transfer (docs/frrwp.md has the layout byte by byte). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/result.hh"
#include "observe/clock.hh"
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

/// This end did not have it.
inline constexpr observe::RawTime kNever{};

/// When the phases of a transfer were at one end, by its clock.
struct Moments {
  observe::RawTime started;      ///< the operation began; at the other end: its START came
  observe::RawTime told;         ///< START sent (who began it)
  observe::RawTime registering;  ///< began
  observe::RawTime registered;
  observe::RawTime key_sent;  ///< by the sink
  observe::RawTime key_came;  ///< at the source
  observe::RawTime posted;    ///< the write: the end of the critical path
  observe::RawTime arrived;   ///< the data, at the sink
  observe::RawTime released;  ///< the buffer was given back
  bool operator==(const Moments&) const = default;
};
/// All of them, in the order of the wire.
inline constexpr std::array kMoments{&Moments::started,    &Moments::told,     &Moments::registering,
                                     &Moments::registered, &Moments::key_sent, &Moments::key_came,
                                     &Moments::posted,     &Moments::arrived,  &Moments::released};

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
