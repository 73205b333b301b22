#include "workloads/protocols/rpc/wire.hh"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "workloads/protocols/rpc/xdr.hh"

namespace longhaul::workloads::rpc {
namespace {

constexpr std::size_t kFixedSize = 16;

std::size_t size_of(const Chunk& chunk) {
  return kWordSize + chunk.size() * kSegmentSize;
}

void put(XdrWriter& out, const WireSegment& segment) {
  out.word(segment.handle);
  out.word(segment.length);
  out.hyper(segment.offset);
}

void put(XdrWriter& out, const Chunk& chunk) {
  out.word(static_cast<std::uint32_t>(chunk.size()));
  for (const auto& segment : chunk) put(out, segment);
}

void put_lists(XdrWriter& out, const Header& header) {
  for (const auto& read : header.reads) {
    out.flag(true);
    out.word(read.position);
    put(out, read.target);
  }
  out.flag(false);
  for (const auto& chunk : header.writes) {
    out.flag(true);
    put(out, chunk);
  }
  out.flag(false);
  out.flag(header.reply.has_value());
  if (header.reply) put(out, *header.reply);
  if (header.kind == HeaderKind::slot) put(out, header.slot);
}

// Reads the lists of one header. The first fault is kept.
class Lists {
 public:
  Lists(XdrReader& in, Sender sender) : in_(in), sender_(sender) {}

  void read(Header& header) {
    while (next()) {
      const auto position = in_.word();
      header.reads.push_back({position, segment(true)});
    }
    while (next()) header.writes.push_back(chunk("write chunk"));
    if (next()) header.reply = chunk("reply chunk");
    if (header.kind == HeaderKind::slot) header.slot = chunk("slot");
  }
  const std::string& fault() const { return fault_; }

 private:
  bool next() { return in_.flag() && fault_.empty(); }

  void refuse(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
    in_.fail();
  }

  WireSegment segment(bool offered) {
    WireSegment one;
    one.handle = in_.word();
    one.length = in_.word();
    one.offset = in_.hyper();
    if (!in_.good()) return one;
    if (++segments_ > kMostWireSegments) refuse(fmt::format("more than {} segments", kMostWireSegments));
    if (offered && one.length == 0) refuse("a segment of no bytes");
    if (one.offset > std::numeric_limits<std::uint64_t>::max() - one.length)
      refuse(fmt::format("a segment of {} bytes at {:#x} goes beyond the end of memory", one.length, one.offset));
    return one;
  }

  Chunk chunk(const char* what) {
    const std::size_t count = in_.word();
    if (count > kMostWireSegments) refuse(fmt::format("a {} of {} segments", what, count));
    Chunk all;
    while (in_.good() && all.size() < count) all.push_back(segment(sender_ == Sender::client));
    auto sorted = all;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i - 1].handle == sorted[i].handle && sorted[i - 1].offset + sorted[i - 1].length > sorted[i].offset)
        refuse(fmt::format("segments of a {} overlap at {:#x}", what, sorted[i].offset));
    return all;
  }

  XdrReader& in_;
  Sender sender_;
  std::size_t segments_ = 0;
  std::string fault_;
};

}  // namespace

std::uint64_t length_of(const Chunk& chunk) {
  std::uint64_t length = 0;
  for (const auto& segment : chunk) length += segment.length;
  return length;
}

std::size_t encoded_size(const Header& header) {
  if (header.kind == HeaderKind::done) return kFixedSize;
  if (header.kind == HeaderKind::error)
    return kFixedSize + kWordSize + (header.fault.kind == WireFault::Kind::version ? 2 * kWordSize : 0);
  auto size = kFixedSize + 3 * kWordSize + (header.kind == HeaderKind::msgp ? 2 * kWordSize : 0);
  size += header.reads.size() * (2 * kWordSize + kSegmentSize);
  for (const auto& chunk : header.writes) size += kWordSize + size_of(chunk);
  if (header.reply) size += size_of(*header.reply);
  if (header.kind == HeaderKind::slot) size += size_of(header.slot);
  return size;
}

std::size_t encode(std::span<std::byte> bytes, const Header& header) {
  XdrWriter out{bytes};
  out.word(header.xid);
  out.word(kWireVersion);
  out.word(header.credits);
  out.word(static_cast<std::uint32_t>(header.kind));
  if (header.kind == HeaderKind::error) {
    out.word(static_cast<std::uint32_t>(header.fault.kind));
    if (header.fault.kind == WireFault::Kind::version) {
      out.word(header.fault.low);
      out.word(header.fault.high);
    }
  } else if (header.kind != HeaderKind::done) {
    if (header.kind == HeaderKind::msgp) {
      out.word(header.align);
      out.word(header.threshold);
    }
    put_lists(out, header);
  }
  if (!out.good())
    throw std::length_error(fmt::format("an RPC-over-RDMA header of {} bytes does not fit into {}: raise --inline",
                                        encoded_size(header), bytes.size()));
  return out.size();
}

tl::expected<DecodedHeader, BadHeader> decode_header(std::span<const std::byte> bytes, Sender sender) {
  XdrReader in{bytes};
  DecodedHeader decoded;
  auto& header = decoded.header;
  header.xid = in.word();
  if (!in.good())
    return tl::unexpected(BadHeader{{}, {}, fmt::format("{} bytes are no RPC-over-RDMA header", bytes.size())});
  const auto bad = [&](WireFault::Kind kind, std::string why) {
    return tl::unexpected(BadHeader{
        header.xid, {.kind = kind}, fmt::format("RPC-over-RDMA header of call {:#010x}: {}", header.xid, why)});
  };
  const auto version = in.word();
  header.credits = in.word();
  const auto kind = in.word();
  if (!in.good()) return bad(WireFault::Kind::chunk, fmt::format("cut short after {} bytes", bytes.size()));
  if (version != kWireVersion)
    return bad(WireFault::Kind::version, fmt::format("version {}, not {}", version, kWireVersion));
  const bool ours =
      kind == static_cast<std::uint32_t>(HeaderKind::slot) || kind == static_cast<std::uint32_t>(HeaderKind::ahead);
  if (kind > static_cast<std::uint32_t>(HeaderKind::error) && !ours)
    return bad(WireFault::Kind::chunk, fmt::format("an unknown kind, {}", kind));
  header.kind = static_cast<HeaderKind>(kind);
  if (header.kind == HeaderKind::error) {
    const auto fault = in.word();
    if (fault != static_cast<std::uint32_t>(WireFault::Kind::version) &&
        fault != static_cast<std::uint32_t>(WireFault::Kind::chunk))
      return bad(WireFault::Kind::chunk, fmt::format("an unknown error, {}", fault));
    header.fault.kind = static_cast<WireFault::Kind>(fault);
    if (header.fault.kind == WireFault::Kind::version) {
      header.fault.low = in.word();
      header.fault.high = in.word();
    }
    if (!in.good()) return bad(WireFault::Kind::chunk, "an error that is cut short");
  } else if (header.kind != HeaderKind::done) {
    if (header.kind == HeaderKind::msgp) {
      header.align = in.word();
      header.threshold = in.word();
    }
    Lists lists{in, sender};
    lists.read(header);
    if (!lists.fault().empty()) return bad(WireFault::Kind::chunk, lists.fault());
    if (!in.good()) return bad(WireFault::Kind::chunk, "chunk lists that are not whole");
  }
  decoded.size = in.position();
  return decoded;
}

}  // namespace longhaul::workloads::rpc
