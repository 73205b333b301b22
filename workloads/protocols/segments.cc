#include "workloads/protocols/segments.hh"

#include <algorithm>

namespace longhaul::workloads {
namespace {

// Part of a buffer at both of its ends, offsets from the buffers' beginnings.
struct Common {
  std::size_t begin;
  std::size_t length;
};

Common common(std::size_t first, std::size_t first_length, std::size_t second, std::size_t second_length) {
  const auto begin = std::max(first, second);
  const auto end = std::min(first + first_length, second + second_length);
  return {begin, end > begin ? end - begin : 0};
}

}  // namespace

std::vector<Segment> segments_of(const std::vector<BufferPiece>& pieces) {
  std::vector<Segment> segments;
  segments.reserve(pieces.size());
  for (const auto& piece : pieces)
    segments.push_back({piece.offset, static_cast<std::uint32_t>(piece.length), piece.keys ? piece.keys->remote : 0});
  return segments;
}

std::size_t length_of(const std::vector<Segment>& segments) {
  std::size_t length = 0;
  for (const auto& place : segments) length += place.length;
  return length;
}

std::vector<Request> requests_between(Operation operation, const std::vector<BufferPiece>& here,
                                      std::size_t here_begins, const std::vector<Segment>& there) {
  std::vector<Request> all;
  for (const auto& piece : here) {
    for (const auto& place : there) {
      const auto part = common(piece.offset - here_begins, piece.length,
                               static_cast<std::size_t>(place.offset - there.front().offset), place.length);
      if (part.length == 0) continue;
      Request request;
      request.operation = operation;
      request.local = here_begins + part.begin;
      request.remote = static_cast<std::size_t>(there.front().offset) + part.begin;
      request.length = part.length;
      if (piece.keys) request.local_key = piece.keys->local;
      if (place.key != 0) request.remote_key = place.key;
      all.push_back(request);
    }
  }
  return all;
}

}  // namespace longhaul::workloads
