// The parts of a buffer, as its owner and as a peer knows them, and the requests that move bytes
// between two such buffers. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/protocols/strategy.hh"
#include "workloads/transport/connection.hh"

namespace longhaul::workloads {

/// A part of a buffer in its owner's memory, as a peer is told: 16 bytes, little-endian.
struct Segment {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t key = 0;  ///< 0: the region that the owner's introduction named
  bool operator==(const Segment&) const = default;
};
static_assert(sizeof(Segment) == 16);

inline constexpr std::size_t kMostSegments = 64;  ///< that one message names

std::vector<Segment> segments_of(const std::vector<BufferPiece>& pieces);

/// The bytes that they cover together.
std::size_t length_of(const std::vector<Segment>& segments);

/// A request for each part that lies in one region at either end; `here_begins`: of the buffer here, of which `here`
/// may be a part. Both buffers begin with the same byte.
std::vector<Request> requests_between(Operation operation, const std::vector<BufferPiece>& here,
                                      std::size_t here_begins, const std::vector<Segment>& there);

}  // namespace longhaul::workloads
