// The header of RPC over RDMA, version 1 (RFC 8166; RDMA_DONE and RDMA_MSGP as RFC 5666 has them): it goes before every
// RPC message and says where the parts are that move by RDMA. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace longhaul::workloads::rpc {

inline constexpr std::uint32_t kWireVersion = 1;
/// Segments of all chunks that one header may name: more are refused, so that a peer cannot make us allocate much.
inline constexpr std::size_t kMostWireSegments = 256;
/// Bytes on the wire: of a number, and of a segment's handle, length and offset.
inline constexpr std::size_t kWordSize = 4;
inline constexpr std::size_t kSegmentSize = 16;

enum class HeaderKind : std::uint32_t {
  msg = 0,    ///< the RPC message follows
  nomsg = 1,  ///< the RPC message is in a chunk: position 0 of the read list, or the reply chunk
  msgp = 2,   ///< the RPC message follows, its payload aligned by the sender
  done = 3,   ///< the client has read the server's read chunks
  error = 4,  ///< the header that came was not understood
  /// Ours, of design `push` (docs/rpc.md): as msg, and a slot behind the lists. A reply grants it: memory that the
  /// client may write. A call says that its payload is there.
  slot = 16,
  /// Ours, of design `push`: a READ of several records that lie one behind another. The write list has a chunk for
  /// each, and each has a reply of its own, as if it had been called for: the second with the next xid, and so on.
  ahead = 17
};

/// Memory that the peer may read or write: its handle (rkey), and its address there.
struct WireSegment {
  std::uint32_t handle = 0;
  std::uint32_t length = 0;
  std::uint64_t offset = 0;
  bool operator==(const WireSegment&) const = default;
};
using Chunk = std::vector<WireSegment>;
/// The bytes that a chunk has room for.
std::uint64_t length_of(const Chunk& chunk);

/// Segments of equal position are one chunk; they are read one after another.
struct ReadSegment {
  std::uint32_t position = 0;  ///< in the RPC message, of the first byte that is missing there
  WireSegment target;
  bool operator==(const ReadSegment&) const = default;
};

/// Why a header was not understood (RFC 8166, section 4.5).
struct WireFault {
  enum class Kind : std::uint32_t { version = 1, chunk = 2 } kind = Kind::chunk;
  std::uint32_t low = kWireVersion;  ///< of version: those that the sender speaks
  std::uint32_t high = kWireVersion;
  bool operator==(const WireFault&) const = default;
};

struct Header {
  std::uint32_t xid = 0;      ///< that of the RPC message
  std::uint32_t credits = 0;  ///< a call: asked for; a reply: granted
  HeaderKind kind = HeaderKind::msg;
  std::vector<ReadSegment> reads = {};
  std::vector<Chunk> writes = {};
  std::optional<Chunk> reply = {};
  Chunk slot = {};          ///< slot
  std::uint32_t align = 0;  ///< msgp
  std::uint32_t threshold = 0;
  WireFault fault = {};  ///< error
  bool operator==(const Header&) const = default;
};

/// The bytes that encode() needs.
std::size_t encoded_size(const Header& header);
/// Returns the length. Throws std::length_error where it does not fit into `bytes`.
std::size_t encode(std::span<std::byte> bytes, const Header& header);

/// A header that came, and where the RPC message behind it begins.
struct DecodedHeader {
  Header header;
  std::size_t size = 0;
};

/// A header that is refused. The sender is told with an error of this kind where it has an xid; a header without one is
/// dropped.
struct BadHeader {
  std::optional<std::uint32_t> xid;
  WireFault fault;
  std::string message;
};

enum class Sender { client, server };

/// Refuses another version, unknown kinds, lists that are not whole, more than kMostWireSegments, segments beyond the
/// end of memory, segments of no bytes, and chunks to write whose segments overlap. A server's write list and reply
/// chunk are the client's, with the lengths that were used: there segments may be of no bytes.
tl::expected<DecodedHeader, BadHeader> decode_header(std::span<const std::byte> bytes, Sender sender);

}  // namespace longhaul::workloads::rpc
