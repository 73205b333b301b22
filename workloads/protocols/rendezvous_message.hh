// What the two ends of a rendezvous tell one another. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/protocols/places.hh"

namespace longhaul::workloads::rendezvous {

enum class Control : std::uint32_t { data = 1, start, reply, fin };

inline constexpr std::size_t kHeaderSize = 16;
inline constexpr std::size_t kControlSize = kHeaderSize + kMostPlaces * sizeof(Place);

/// Little-endian: kind, sequence, number of places (32 bits each, and 32 unused); then the places. Returns the length.
/// Throws std::runtime_error where there are too many places.
std::size_t encode(std::span<std::byte> message, Control kind, std::uint8_t sequence, const std::vector<Place>& places);

struct Message {
  Control kind = Control::data;
  std::vector<Place> places;
};
/// Throws std::runtime_error where it is not what `wanted` says, or not whole.
Message decode(std::span<const std::byte> message, Control wanted);

}  // namespace longhaul::workloads::rendezvous
