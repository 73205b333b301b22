// The messages between the two ends of a rendezvous. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/protocols/segments.hh"

namespace longhaul::workloads::rendezvous {

enum class Control : std::uint32_t { data = 1, start, reply, fin };

inline constexpr std::size_t kHeaderSize = 16;
inline constexpr std::size_t kControlSize = kHeaderSize + kMostSegments * sizeof(Segment);

/// Little-endian: kind, sequence, number of segments (32 bits each, and 32 unused); then the segments. Returns the
/// length. Throws std::runtime_error where there are too many segments.
std::size_t encode(std::span<std::byte> message, Control kind, std::uint8_t sequence,
                   const std::vector<Segment>& segments);

struct Message {
  Control kind = Control::data;
  std::vector<Segment> segments;
};
/// Throws std::runtime_error where it is not what `wanted` says, or not whole.
Message decode(std::span<const std::byte> message, Control wanted);

}  // namespace longhaul::workloads::rendezvous
