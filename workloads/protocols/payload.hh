// The bytes of a ping-pong's messages: the first and the last are the sequence number, the rest is a pattern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/parameter.hh"

namespace longhaul::workloads::pingpong {

enum class Direction : std::uint8_t { ping, pong };

/// Sequence numbers are 1 ... 255 and round again: 0 is "nothing yet".
inline std::uint8_t next_sequence(std::uint8_t sequence) {
  return sequence == 255 ? 1 : static_cast<std::uint8_t>(sequence + 1);
}

/// Writes the whole message. `salt` changes the pattern: what the run's parameter `payload` says, and in addition, so
/// that a stale byte shows, the sequence where every message is verified in full.
void fill(std::span<std::byte> message, Direction direction, std::uint8_t sequence, std::uint8_t salt);

/// Only the first and the last byte.
inline void stamp(std::span<std::byte> message, std::uint8_t sequence) {
  message.front() = std::byte{sequence};
  message.back() = std::byte{sequence};
}

/// Of a message by its number, which counts from 1.
inline std::uint8_t stamp_of(std::uint64_t number) {
  return static_cast<std::uint8_t>((number - 1) % 255 + 1);
}

/// Throws std::runtime_error where the first or the last byte is not the stamp: "corrupted payload: WHAT NUMBER ...".
void check_stamp(std::span<const std::byte> message, std::uint8_t stamp, const char* what, std::uint64_t number);

/// The first error in a message, in words; empty: none.
std::optional<std::string> find_fault(std::span<const std::byte> message, Direction direction, std::uint8_t sequence,
                                      std::uint8_t salt);

}  // namespace longhaul::workloads::pingpong

namespace longhaul::workloads {

/// The `salt` of pingpong::fill() and find_fault() that the parameter `payload` says.
std::uint8_t payload_of(const WorkloadSpec& spec, const Parameters& parameters);

}  // namespace longhaul::workloads
