// FRRWP's messages between the two ends of a transfer.
#include <array>

#include "tests/fuzz/input.hh"
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
