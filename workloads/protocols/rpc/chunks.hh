// Chunks of a connection's own buffers, and the RDMA requests that move bytes between a buffer here and a peer's chunk.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "workloads/protocols/rpc/wire.hh"
#include "workloads/protocols/strategy.hh"
#include "workloads/transport/connection.hh"

namespace longhaul::workloads::rpc {

/// The first `length` bytes of a buffer's usable pieces as a chunk for the peer, in segments of at most `most` bytes.
Chunk chunk_of(Connection& connection, const std::vector<BufferPiece>& pieces, std::size_t length, std::size_t most);

/// RDMA writes or reads between `length` bytes here, whose pieces begin at `begin`, and the peer's segments, which are
/// taken one after another whatever their addresses; none is of more than `most` bytes. Pure. Throws std::length_error
/// where one side is too short.
std::vector<Request> requests_to(Operation operation, const std::vector<BufferPiece>& here, std::size_t begin,
                                 std::size_t length, const Chunk& there, std::size_t most = ~std::size_t{0});

/// The chunk with the lengths that `used` bytes take of its segments: what a server gives back. Pure.
Chunk used_of(Chunk chunk, std::uint64_t used);

/// A key of the memory that a call offers; none: it offers nothing. Pure.
std::optional<std::uint32_t> offered_key(const Header& call);

/// The first `length` bytes of the chunk: no segments behind them. Pure.
Chunk first_of(Chunk chunk, std::uint64_t length);

}  // namespace longhaul::workloads::rpc
