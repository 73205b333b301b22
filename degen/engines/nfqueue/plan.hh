// Engine nfqueue's kernel objects as data: a netfilter queue for each interface by which packets leave, and the nft
// table that fills them. Pure.
#pragma once

#include "degen/engines/planner.hh"

namespace longhaul::degen {

/// degen's nft table and the first of its netfilter queues, by which a later process knows them.
inline constexpr std::string_view kOwnTable = "longhaul_degen";
inline constexpr std::uint16_t kFirstQueue = 0xDE60;

/// One netfilter queue: the packets that leave by one interface.
struct PacketQueue {
  std::uint16_t number = 0;
  std::string interface;
  Way way = Way::forward;
  Direction direction;      ///< with the programmed delay
  std::uint32_t limit = 0;  ///< packets
  Nanoseconds patience{0};  ///< see Egress
  std::int64_t room = 0;    ///< bytes of a queue of stated length whose rate changes; 0: none
  std::uint64_t seed = 0;
  bool operator==(const PacketQueue&) const = default;
};

namespace nfqueue {

std::vector<PacketQueue> queues_of(const ImpairmentPlan& plan);

/// nft text that makes the whole table; empty where there is no queue.
std::string ruleset_of(const ImpairmentPlan& plan);

Planner planner();

}  // namespace nfqueue
}  // namespace longhaul::degen
