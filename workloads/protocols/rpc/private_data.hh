// The private data of a connection for RPC over RDMA (RFC 8797): the inline threshold of either end. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace longhaul::workloads::rpc {

inline constexpr std::size_t kPrivateDataSize = 8;
inline constexpr std::uint32_t kDefaultInline = 1024;  ///< of an end that says nothing

struct PrivateData {
  bool remote_invalidation = false;     ///< the sender may be sent to with invalidation
  std::uint32_t send = kDefaultInline;  ///< bytes of the largest message that it sends; whole KiB up to 256
  std::uint32_t receive = kDefaultInline;
  bool operator==(const PrivateData&) const = default;
};

std::array<std::byte, kPrivateDataSize> encode(const PrivateData& data);
/// Empty where it is none, or of another version: then the defaults count. Longer is fine: providers pad.
std::optional<PrivateData> decode_private_data(std::span<const std::byte> bytes);

}  // namespace longhaul::workloads::rpc
