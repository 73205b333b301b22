#include "workloads/protocols/rpc/private_data.hh"

#include <algorithm>

#include "workloads/protocols/rpc/xdr.hh"

namespace longhaul::workloads::rpc {
namespace {

constexpr std::uint32_t kMagic = 0xf6ab0e18;
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kInvalidation = 1;
constexpr std::uint32_t kUnit = 1024;

std::uint32_t units(std::uint32_t bytes) {
  return std::clamp(bytes / kUnit, 1U, 256U) - 1;
}

}  // namespace

std::array<std::byte, kPrivateDataSize> encode(const PrivateData& data) {
  std::array<std::byte, kPrivateDataSize> bytes{};
  XdrWriter out{bytes};
  out.word(kMagic);
  out.word(kVersion << 24 | (data.remote_invalidation ? kInvalidation : 0) << 16 | units(data.send) << 8 |
           units(data.receive));
  return bytes;
}

std::optional<PrivateData> decode_private_data(std::span<const std::byte> bytes) {
  XdrReader in{bytes};
  const auto magic = in.word();
  const auto word = in.word();
  if (!in.good() || magic != kMagic || word >> 24 != kVersion) return std::nullopt;
  return PrivateData{.remote_invalidation = (word >> 16 & kInvalidation) != 0,
                     .send = ((word >> 8 & 0xff) + 1) * kUnit,
                     .receive = ((word & 0xff) + 1) * kUnit};
}

}  // namespace longhaul::workloads::rpc
