#include "workloads/protocols/payload.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

namespace longhaul::workloads::pingpong {
namespace {

constexpr std::size_t kBlock = 256;
constexpr std::uint8_t kNextBlock = 17;

// The pattern between the edges of a message, block by block: to `piece` go the place of its first byte and the bytes,
// until it returns false. A byte differs between the directions, between neighbours, and between the same places of
// neighbouring packets. It is its place in the block, and what all bytes of the block have more: a stream fills and
// verifies 32 MiB a connection around its window, and a compiler makes vectors of this.
template <typename Piece>
void each_piece(std::size_t size, Direction direction, std::uint8_t salt, Piece piece) {
  std::array<std::uint8_t, kBlock> block;
  for (std::size_t i = 0; i < kBlock; ++i)
    block[i] = static_cast<std::uint8_t>(i * 131 + (direction == Direction::ping ? 0 : 89) + salt * 29);
  for (std::size_t begin = 0; begin < size; begin += kBlock) {
    const auto first = std::max<std::size_t>(begin, 1), last = std::min(begin + kBlock, size - 1);
    if (first < last && !piece(first, std::as_bytes(std::span{block}).subspan(first - begin, last - first))) return;
    for (auto& byte : block) byte = static_cast<std::uint8_t>(byte + kNextBlock);
  }
}

std::string fault_at(std::size_t place, std::size_t size, std::byte is, std::byte wanted) {
  return fmt::format("corrupted payload: byte {} of {} is {:#04x}, expected {:#04x}", place, size,
                     std::to_integer<int>(is), std::to_integer<int>(wanted));
}

}  // namespace

void fill(std::span<std::byte> message, Direction direction, std::uint8_t sequence, std::uint8_t salt) {
  each_piece(message.size(), direction, salt, [&](std::size_t place, std::span<const std::byte> bytes) {
    std::memcpy(message.data() + place, bytes.data(), bytes.size());
    return true;
  });
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
  const auto edge = std::byte{sequence};
  if (message.empty()) return std::nullopt;
  if (message.front() != edge) return fault_at(0, message.size(), message.front(), edge);
  std::optional<std::string> fault;
  each_piece(message.size(), direction, salt, [&](std::size_t place, std::span<const std::byte> bytes) {
    const auto came = message.subspan(place, bytes.size());
    if (std::memcmp(came.data(), bytes.data(), bytes.size()) == 0) return true;
    const auto [is, wanted] = std::mismatch(came.begin(), came.end(), bytes.begin());
    fault = fault_at(place + static_cast<std::size_t>(is - came.begin()), message.size(), *is, *wanted);
    return false;
  });
  if (!fault && message.back() != edge) fault = fault_at(message.size() - 1, message.size(), message.back(), edge);
  return fault;
}

}  // namespace longhaul::workloads::pingpong

namespace longhaul::workloads {

std::uint8_t payload_of(const WorkloadSpec& spec, const Parameters& parameters) {
  return static_cast<std::uint8_t>(integer(parameters, spec.parameters, "payload"));
}

}  // namespace longhaul::workloads
