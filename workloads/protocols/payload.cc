#include "workloads/protocols/payload.hh"

#include <fmt/format.h>

#include <stdexcept>

namespace longhaul::workloads::pingpong {
namespace {

// Differs between the directions, between neighbours, and between the same places of neighbouring packets.
std::byte pattern(std::size_t i, Direction direction, std::uint8_t salt) {
  return std::byte{
      static_cast<std::uint8_t>(i * 131 + (i >> 8) * 17 + (direction == Direction::ping ? 0 : 89) + salt * 29)};
}

}  // namespace

void fill(std::span<std::byte> message, Direction direction, std::uint8_t sequence, std::uint8_t salt) {
  for (std::size_t i = 1; i + 1 < message.size(); ++i) message[i] = pattern(i, direction, salt);
  stamp(message, sequence);
}

void check_stamp(std::span<const std::byte> message, std::uint8_t stamp, const char* what, std::uint64_t number) {
  if (message.front() == std::byte{stamp} && message.back() == std::byte{stamp}) return;
  throw std::runtime_error(fmt::format("corrupted payload: {} {} came with {} as its first and {} as its last byte",
                                       what, number, std::to_integer<int>(message.front()),
                                       std::to_integer<int>(message.back())));
}

std::optional<std::string> find_fault(std::span<const std::byte> message, Direction direction, std::uint8_t sequence,
                                      std::uint8_t salt) {
  for (std::size_t i = 0; i < message.size(); ++i) {
    const bool edge = i == 0 || i + 1 == message.size();
    const auto wanted = edge ? std::byte{sequence} : pattern(i, direction, salt);
    if (message[i] != wanted)
      return fmt::format("corrupted payload: byte {} of {} is {:#04x}, expected {:#04x}", i, message.size(),
                         std::to_integer<int>(message[i]), std::to_integer<int>(wanted));
  }
  return std::nullopt;
}

}  // namespace longhaul::workloads::pingpong

namespace longhaul::workloads {

std::uint8_t payload_of(const WorkloadSpec& spec, const Parameters& parameters) {
  return static_cast<std::uint8_t>(integer(parameters, spec.parameters, "payload"));
}

}  // namespace longhaul::workloads
