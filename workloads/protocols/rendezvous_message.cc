#include "workloads/protocols/rendezvous_message.hh"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace longhaul::workloads::rendezvous {
namespace {

const char* name_of(std::uint32_t kind) {
  constexpr std::array names{"nothing", "DATA", "START", "REPLY", "FIN"};
  return kind < names.size() ? names[kind] : "nothing known";
}

}  // namespace

std::size_t encode(std::span<std::byte> message, Control kind, std::uint8_t sequence,
                   const std::vector<Segment>& segments) {
  if (segments.size() > kMostSegments)
    throw std::runtime_error(
        fmt::format("a buffer lies in {} regions, a message names {} at most: take a smaller "
                    "--size or another --strategy",
                    segments.size(), kMostSegments));
  const std::array<std::uint32_t, 4> header{static_cast<std::uint32_t>(kind), sequence,
                                            static_cast<std::uint32_t>(segments.size()), 0};
  static_assert(sizeof header == kHeaderSize);
  std::memcpy(message.data(), header.data(), sizeof header);
  if (!segments.empty()) std::memcpy(message.data() + kHeaderSize, segments.data(), segments.size() * sizeof(Segment));
  return kHeaderSize + segments.size() * sizeof(Segment);
}

Message decode(std::span<const std::byte> message, Control wanted) {
  if (message.size() < kHeaderSize)
    throw std::runtime_error(fmt::format("the peer's message is of {} bytes, cut short", message.size()));
  std::array<std::uint32_t, 4> header{};
  std::memcpy(header.data(), message.data(), sizeof header);
  if (header[0] != static_cast<std::uint32_t>(wanted))
    throw std::runtime_error(fmt::format("the peer sent {} where {} was due", name_of(header[0]),
                                         name_of(static_cast<std::uint32_t>(wanted))));
  if (header[2] > kMostSegments || kHeaderSize + header[2] * sizeof(Segment) > message.size())
    throw std::runtime_error(fmt::format("the peer's {} names {} segments", name_of(header[0]), header[2]));
  Message result{wanted, std::vector<Segment>(header[2])};
  if (header[2] > 0) std::memcpy(result.segments.data(), message.data() + kHeaderSize, header[2] * sizeof(Segment));
  return result;
}

}  // namespace longhaul::workloads::rendezvous
