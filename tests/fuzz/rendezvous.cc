// The messages of a rendezvous, as either end awaits them.
#include <array>
#include <stdexcept>

#include "tests/fuzz/input.hh"
#include "tests/fuzz/mend.hh"
#include "workloads/protocols/rendezvous_message.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  using namespace longhaul::workloads;
  using rendezvous::Control;
  const auto bytes = fuzz::bytes_of(data, size);
  for (const auto wanted : {Control::data, Control::start, Control::reply, Control::fin}) {
    try {
      const auto message = rendezvous::decode(bytes, wanted);
      std::array<std::byte, rendezvous::kControlSize> again{};
      const auto length = rendezvous::encode(again, message.kind, 1, message.segments);
      const auto twice = rendezvous::decode(std::span<const std::byte>{again}.first(length), wanted);
      fuzz::require(twice.kind == message.kind && twice.segments == message.segments, "a message reads back the same");
    } catch (const std::runtime_error&) {
      // Not what is awaited.
    }
  }
  return 0;
}

// The kind is one that there is, and as many segments are named as there are.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace longhaul::fuzz;
  using namespace longhaul::workloads;
  return mutate(data, size, max_size, seed, [](std::uint8_t* bytes, std::size_t length) {
    if (length < rendezvous::kHeaderSize) return length;
    put(bytes, 4, Order::little, 1 + get(bytes, 4, Order::little) % 4);
    const auto segments = std::min((length - rendezvous::kHeaderSize) / sizeof(Segment), kMostSegments);
    put(bytes + 8, 4, Order::little, segments);
    return rendezvous::kHeaderSize + segments * sizeof(Segment);
  });
}
