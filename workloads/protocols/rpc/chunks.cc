#include "workloads/protocols/rpc/chunks.hh"

#include <algorithm>
#include <stdexcept>

namespace longhaul::workloads::rpc {

Chunk chunk_of(Connection& connection, const std::vector<BufferPiece>& pieces, std::size_t length, std::size_t most) {
  const auto base = reinterpret_cast<std::uintptr_t>(connection.memory().data());
  Chunk chunk;
  for (const auto& piece : pieces) {
    const auto handle = piece.keys ? piece.keys->remote : connection.keys().remote;
    for (std::size_t done = 0; done < piece.length && length > 0;) {
      const auto part = std::min({most, piece.length - done, length});
      chunk.push_back({handle, static_cast<std::uint32_t>(part), base + piece.offset + done});
      done += part;
      length -= part;
    }
  }
  return chunk;
}

std::vector<Request> requests_to(Operation operation, const std::vector<BufferPiece>& here, std::size_t begin,
                                 std::size_t length, const Chunk& there, std::size_t most) {
  std::vector<Request> all;
  auto piece = here.begin();
  auto segment = there.begin();
  std::size_t segment_done = 0;
  for (std::size_t done = 0; done < length;) {
    while (piece != here.end() && piece->offset + piece->length <= begin + done) ++piece;
    if (segment != there.end() && segment_done == segment->length) {
      ++segment;
      segment_done = 0;
      continue;
    }
    if (piece == here.end() || segment == there.end())
      throw std::length_error(piece == here.end() ? "a buffer is shorter than its payload"
                                                  : "the peer's chunk is shorter than its payload");
    const auto part =
        std::min({most, length - done, piece->offset + piece->length - (begin + done), segment->length - segment_done});
    Request request;
    request.operation = operation;
    request.local = begin + done;
    request.length = part;
    request.remote = segment->offset + segment_done;
    request.absolute = true;
    if (piece->keys) request.local_key = piece->keys->local;
    request.remote_key = segment->handle;
    all.push_back(request);
    done += part;
    segment_done += part;
  }
  return all;
}

Chunk used_of(Chunk chunk, std::uint64_t used) {
  for (auto& segment : chunk) {
    segment.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(segment.length, used));
    used -= segment.length;
  }
  return chunk;
}

std::optional<std::uint32_t> offered_key(const Header& call) {
  if (!call.reads.empty()) return call.reads.front().target.handle;
  if (!call.writes.empty() && !call.writes.front().empty()) return call.writes.front().front().handle;
  if (call.reply && !call.reply->empty()) return call.reply->front().handle;
  return std::nullopt;
}

Chunk first_of(Chunk chunk, std::uint64_t length) {
  chunk = used_of(std::move(chunk), length);
  std::erase_if(chunk, [](const WireSegment& one) { return one.length == 0; });
  return chunk;
}

}  // namespace longhaul::workloads::rpc
