// FRRWP's messages between the two ends of a transfer.
#include <array>

#include "tests/fuzz/input.hh"
#include "tests/fuzz/mend.hh"
#include "workloads/protocols/frrwp/message.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  using namespace longhaul::workloads;
  const auto message = frrwp::decode(fuzz::bytes_of(data, size));
  if (!message) return 0;
  std::array<std::byte, frrwp::kMessageSize> bytes{};
  const auto length = frrwp::encode(bytes, *message);
  const auto again = frrwp::decode(std::span<const std::byte>{bytes}.first(length));
  fuzz::require(again.has_value() && *again == *message, "a message reads back the same");
  return 0;
}

// Version and kind are some that there are, and the count is that of the bytes behind the header.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace longhaul::fuzz;
  using namespace longhaul::workloads;
  return mutate(data, size, max_size, seed, [](std::uint8_t* bytes, std::size_t length) {
    if (length < frrwp::kHeaderSize) return length;
    put(bytes, 2, Order::little, frrwp::kWireVersion);
    const auto kinds = static_cast<std::uint64_t>(frrwp::Kind::credit);
    const auto kind = 1 + get(bytes + 2, 2, Order::little) % kinds;
    put(bytes + 2, 2, Order::little, kind);
    const auto body = length - frrwp::kHeaderSize;
    const bool words = kind == static_cast<std::uint64_t>(frrwp::Kind::refuse);
    put(bytes + 4, 4, Order::little,
        words ? std::min(body, frrwp::kLongestReason) : std::min(body / sizeof(Segment), kMostSegments));
    return length;
  });
}
