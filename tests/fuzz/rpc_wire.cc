// RPC over RDMA: the header before every message, of a client or a server (the first byte), and private data. What is
// accepted is encoded again to the same bytes.
#include <algorithm>
#include <vector>

#include "tests/fuzz/input.hh"
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
