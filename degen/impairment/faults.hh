// Faults to the packet: what happens to single packets of one direction, by their number. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "model/units.hh"

namespace longhaul::degen {

/// What happens to packets first to last (inclusive). The first packet of a direction (of its flow, where one is named)
/// after the impairment was put in place is 1; degen's own probes have no number.
struct Fault {
  enum class Kind {
    drop,
    delay,     ///< it leaves `by` later, and those behind it do not wait for it
    swap,      ///< it leaves behind the one that follows it
    duplicate  ///< it leaves twice
  } kind = Kind::drop;
  std::uint32_t first = 1;
  std::uint32_t last = 1;
  Nanoseconds by{0};  ///< of delay

  bool operator==(const Fault&) const = default;
  bool hits(std::uint32_t number) const { return number >= first && number <= last; }
};

/// What the head of an IP packet says of the flow that it belongs to.
struct FlowKey {
  std::uint8_t protocol = 0;       ///< IP's number of it; IPv6: its first next header. 0: no IP packet
  std::uint16_t from = 0, to = 0;  ///< ports; 0: it has none (another protocol than TCP and UDP, a later fragment)
};

/// True of one of degen's own: UDP from or to the probes' port.
bool is_probe(const FlowKey& key);

/// Which packets are meant. All, where it says nothing.
struct Flow {
  std::uint8_t protocol = 0;  ///< of IP: 6 TCP, 17 UDP, 1 ICMP (and ICMPv6); 0: any
  std::uint16_t port = 0;     ///< of either end; 0: any

  bool operator==(const Flow&) const = default;
  bool any() const { return protocol == 0; }
  bool matches(const FlowKey& key) const;
};

/// Of one direction.
struct Faults {
  bool numbered = false;  ///< packets are numbered and counted, if only to know how many there are
  Flow flow{};            ///< only its packets are
  std::vector<Fault> list;

  bool operator==(const Faults&) const = default;
  bool none() const { return !numbered; }
  /// Whether such a packet has a number: it is of the flow, and no probe of degen's own.
  bool numbers(const FlowKey& key) const;
  /// What hits this packet; nullptr: nothing.
  const Fault* of(std::uint32_t number) const;
};

/// The most faults of a direction, and the highest number.
inline constexpr std::size_t kMostFaults = 64;
inline constexpr std::uint32_t kHighestNumber = 100'000'000;
inline constexpr Nanoseconds kLongestFault = std::chrono::seconds{10};

/// "none"; "count": nothing happens, packets are only counted; or a list such as "drop 17, drop 20-22, duplicate 5,
/// delay 9 by 3ms, swap 11". Before it may stand whose packets are numbered: "udp 4791: drop 17", "tcp: count",
/// "icmp: delay 2 by 1ms"; the port is that of either end. Refuses what cannot be read, and two faults of one packet.
Result<Faults> parse_faults(std::string_view text);

/// The shortest text that parse_faults reads back to the same.
std::string to_text(const Faults& faults);

}  // namespace longhaul::degen
