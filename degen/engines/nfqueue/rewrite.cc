#include "degen/engines/nfqueue/rewrite.hh"

namespace longhaul::degen {
namespace {

constexpr std::size_t kIpv4Header = 20;
constexpr std::size_t kIpv6Header = 40;
constexpr std::size_t kChecksum = 10;  // of IPv4's header, its place
constexpr unsigned kCongestionExperienced = 3;

unsigned version(std::span<const std::byte> packet) {
  const auto first = packet.empty() ? 0U : std::to_integer<unsigned>(packet[0]) >> 4;
  if (first == 4 && packet.size() >= kIpv4Header) return 4;
  return first == 6 && packet.size() >= kIpv6Header ? 6 : 0;
}

unsigned word(std::span<const std::byte> packet, std::size_t at) {
  return std::to_integer<unsigned>(packet[at]) << 8 | std::to_integer<unsigned>(packet[at + 1]);
}

void mark(std::span<std::byte> packet) {
  if (version(packet) == 6) {
    // The traffic class lies across the first two bytes.
    packet[1] |= std::byte{kCongestionExperienced << 4};
    return;
  }
  const auto before = word(packet, 0);
  packet[1] |= std::byte{kCongestionExperienced};
  auto sum = (~word(packet, kChecksum) & 0xffff) + (~before & 0xffff) + word(packet, 0);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
  packet[kChecksum] = static_cast<std::byte>(sum >> 8);
  packet[kChecksum + 1] = static_cast<std::byte>(sum & 0xff);
}

}  // namespace

bool ecn_capable(std::span<const std::byte> packet) {
  switch (version(packet)) {
    case 4:
      return (std::to_integer<unsigned>(packet[1]) & 3) != 0;
    case 6:
      return (std::to_integer<unsigned>(packet[1]) >> 4 & 3) != 0;
    default:
      return false;
  }
}

void rewrite(std::span<std::byte> packet, const Rewrite& what) {
  if (what.mark) mark(packet);
  if (!what.flip || packet.empty()) return;
  const auto bit = *what.flip % (packet.size() * 8);
  packet[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
}

}  // namespace longhaul::degen
