#include "workloads/protocols/frrwp/message.hh"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace longhaul::workloads::frrwp {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian");

struct Header {
  std::uint16_t version;
  std::uint16_t kind;
  std::uint32_t count;  // segments, or bytes of the reason
  std::uint64_t tag;
  std::uint64_t length;
  std::uint32_t taken;
  std::uint32_t unused;
};
static_assert(sizeof(Header) == kHeaderSize);

using WireMoments = std::array<std::int64_t, kMoments.size()>;

WireMoments to_wire(const Moments& m) {
  WireMoments wire{};
  std::transform(kMoments.begin(), kMoments.end(), wire.begin(),
                 [&](auto moment) { return observe::to_ns(m.*moment); });
  return wire;
}

Moments from_wire(const WireMoments& w) {
  Moments moments;
  for (std::size_t i = 0; i < kMoments.size(); ++i) moments.*kMoments[i] = observe::from_ns(w[i]);
  return moments;
}

std::size_t body_of(Kind kind, std::size_t count) {
  switch (kind) {
    case Kind::start:
    case Kind::key:
    case Kind::stcrw:
      return count * sizeof(Segment);
    case Kind::closed:
      return sizeof(WireMoments);
    case Kind::refuse:
      return count;
    case Kind::fin:
    case Kind::credit:
      break;
  }
  return 0;
}

}  // namespace

const char* to_text(Kind kind) {
  constexpr std::array names{"nothing", "START", "KEY", "STCRW", "FIN", "CLOSED", "REFUSE", "CREDIT"};
  return names[static_cast<std::size_t>(kind) < names.size() ? static_cast<std::size_t>(kind) : 0];
}

std::size_t encode(std::span<std::byte> bytes, const Message& message) {
  if (message.segments.size() > kMostSegments)
    throw std::runtime_error(
        fmt::format("a buffer lies in {} regions, a message names {} at most: take a smaller --size or another "
                    "--strategy",
                    message.segments.size(), kMostSegments));
  const auto reason = std::min(message.reason.size(), kLongestReason);
  const auto count = message.kind == Kind::refuse ? reason : message.segments.size();
  const Header header{kWireVersion,
                      static_cast<std::uint16_t>(message.kind),
                      static_cast<std::uint32_t>(count),
                      message.tag,
                      message.length,
                      message.taken,
                      0};
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto length = body_of(message.kind, count);
  auto* const body = bytes.data() + sizeof header;
  if (message.kind == Kind::refuse) {
    std::memcpy(body, message.reason.data(), length);
  } else if (message.kind == Kind::closed) {
    const auto moments = to_wire(message.moments);
    std::memcpy(body, moments.data(), length);
  } else if (length > 0) {
    std::memcpy(body, message.segments.data(), length);
  }
  return sizeof header + length;
}

Result<Message> decode(std::span<const std::byte> bytes) {
  Header header{};
  if (bytes.size() < sizeof header) return fail("the peer sent a message of {} bytes", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kWireVersion)
    return fail("the peer's transfer protocol has version {}, this one {}: run the same longhaul on both ends",
                header.version, kWireVersion);
  if (header.kind < static_cast<std::uint16_t>(Kind::start) || header.kind > static_cast<std::uint16_t>(Kind::credit))
    return fail("the peer sent a message of an unknown kind, {}", header.kind);
  Message message;
  message.kind = static_cast<Kind>(header.kind);
  message.tag = header.tag;
  message.length = header.length;
  message.taken = header.taken;
  const auto most = message.kind == Kind::refuse ? kLongestReason : kMostSegments;
  const auto length = body_of(message.kind, header.count);
  if (header.count > most || bytes.size() < sizeof header + length)
    return fail("the peer's {} is cut short: {} bytes that should be {}", to_text(message.kind), bytes.size(),
                sizeof header + length);
  const auto* const body = bytes.data() + sizeof header;
  if (message.kind == Kind::refuse) {
    message.reason.assign(reinterpret_cast<const char*>(body), length);
  } else if (message.kind == Kind::closed) {
    WireMoments moments{};
    std::memcpy(moments.data(), body, length);
    message.moments = from_wire(moments);
  } else if (length > 0) {
    message.segments.resize(header.count);
    std::memcpy(message.segments.data(), body, length);
  }
  return message;
}

}  // namespace longhaul::workloads::frrwp
