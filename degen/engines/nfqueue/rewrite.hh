// What changes in a packet on its way: a congestion mark, a bit error. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace longhaul::degen {

/// Of one packet; both may be.
struct Rewrite {
  bool mark = false;                  ///< congestion experienced
  std::optional<std::uint64_t> flip;  ///< a bit, by this draw
  bool operator==(const Rewrite&) const = default;
  bool any() const { return mark || flip.has_value(); }
};

/// True of an IPv4 or IPv6 packet whose sender wants marks in place of losses (RFC 3168: ECT(0), ECT(1), CE).
bool ecn_capable(std::span<const std::byte> packet);

/// Marks a packet that ecn_capable() is true of, then flips a bit: each of the IP packet is as likely. The mark leaves
/// IPv4's header checksum right (RFC 1624), the flip nothing.
void rewrite(std::span<std::byte> packet, const Rewrite& what);

}  // namespace longhaul::degen
