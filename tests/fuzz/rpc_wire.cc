// RPC over RDMA: the header before every message, of a client or a server (the first byte), and private data. What is
// accepted is encoded again to the same bytes.
#include <algorithm>
#include <vector>

#include "tests/fuzz/input.hh"
#include "tests/fuzz/mend.hh"
#include "workloads/protocols/rpc/private_data.hh"
#include "workloads/protocols/rpc/wire.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  using namespace longhaul::workloads;
  if (size == 0) return 0;
  const auto bytes = fuzz::bytes_of(data + 1, size - 1);
  if (const auto told = rpc::decode_private_data(bytes)) {
    const auto again = rpc::encode(*told);
    fuzz::require(rpc::decode_private_data(again) == told, "private data reads back the same");
  }
  const auto decoded = rpc::decode_header(bytes, data[0] % 2 == 0 ? rpc::Sender::client : rpc::Sender::server);
  if (!decoded) return 0;
  fuzz::require(decoded->size <= bytes.size(), "a header is within its message");
  std::vector<std::byte> again(rpc::encoded_size(decoded->header));
  fuzz::require(rpc::encode(again, decoded->header) == decoded->size, "a header keeps its length");
  fuzz::require(std::ranges::equal(again, bytes.first(decoded->size)), "a header keeps its bytes");
  return 0;
}

// Version and kind are some that there are; flags of the lists are flags (XDR's booleans are 0 or 1), and counts of
// segments what follows can hold.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace longhaul::fuzz;
  using namespace longhaul::workloads;
  return mutate(data, size, max_size, seed, [seed](std::uint8_t* bytes, std::size_t length) {
    constexpr std::size_t kWord = 4, kFixed = 1 + 4 * kWord, kSegment = 4 * kWord;
    if (length < kFixed) return length;
    put(bytes + 1 + kWord, kWord, Order::big, rpc::kWireVersion);
    const auto kind = bytes + 1 + 3 * kWord;
    if (get(kind, kWord, Order::big) > static_cast<std::uint64_t>(rpc::HeaderKind::error))
      put(kind, kWord, Order::big, seed / 8 % 5);
    auto at =
        kFixed + (get(kind, kWord, Order::big) == static_cast<std::uint64_t>(rpc::HeaderKind::msgp) ? 2 * kWord : 0);
    const auto flag = [&] {
      if (at + kWord > length) return false;
      const bool set = bytes[at + kWord - 1] % 2 != 0;
      put(bytes + at, kWord, Order::big, set ? 1 : 0);
      at += kWord;
      return set;
    };
    const auto chunk = [&] {
      if (at + kWord > length) return;
      const auto room = (length - at - kWord) / kSegment;
      const auto count = room == 0 ? 0 : get(bytes + at, kWord, Order::big) % std::min<std::size_t>(room + 1, 8);
      put(bytes + at, kWord, Order::big, count);
      at += kWord + count * kSegment;
    };
    while (flag()) at += kWord + kSegment;
    while (flag()) chunk();
    if (flag()) chunk();
    return length;
  });
}
