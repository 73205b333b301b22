// What must be in the kernel for an impairment. Pure: an impairment, an engine, the router's interfaces and the
// engine's known lateness give the kernel objects with all of their parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "degen/impairment/spec.hh"

namespace longhaul::degen {

/// Names that degen's own kernel objects bear, by which a later process knows them: the major number of its qdiscs, its
/// nft table, and the first of its netfilter queues.
inline constexpr std::uint16_t kOwnHandle = 0xDE6E;
inline constexpr std::string_view kOwnTable = "longhaul_degen";
inline constexpr std::uint16_t kFirstQueue = 0xDE60;
inline constexpr std::size_t kMaxInterfaces = 32;

struct Interface {
  std::string name;
  std::int64_t mtu = 1500;
  bool operator==(const Interface&) const = default;
};

/// Between which interfaces the router forwards.
struct Sides {
  std::vector<Interface> client;
  std::vector<Interface> server;
  /// Where packets of this way leave the router.
  const std::vector<Interface>& egress(Way way) const { return way == Way::forward ? server : client; }
  const std::vector<Interface>& ingress(Way way) const { return way == Way::forward ? client : server; }
};

/// How late the engine releases packets; taken off the delay that it is told.
struct Lateness {
  Nanoseconds forward{0};
  Nanoseconds back{0};
};

/// Losses in bursts: a state in which all packets are lost and one in which none is. Probabilities of 2^32 - 1.
struct Gilbert {
  std::uint32_t enter = 0;  ///< good -> bad, a packet
  std::uint32_t leave = 0;  ///< bad -> good
  bool operator==(const Gilbert&) const = default;
};

/// Parameters of the root qdisc of one interface, in the kernel's units (struct tc_netem_qopt and beyond).
struct NetemQdisc {
  std::string interface;
  Way way = Way::forward;
  Nanoseconds latency{0};
  Nanoseconds jitter{0};
  Distribution distribution = Distribution::uniform;
  std::uint32_t limit = 0;        ///< packets
  std::uint32_t loss = 0;         ///< of 2^32 - 1, as all probabilities here
  std::optional<Gilbert> bursts;  ///< in place of `loss`
  std::uint32_t duplicate = 0;
  std::uint32_t reorder = 0;
  std::uint64_t rate = 0;  ///< bytes/s; 0: none
  bool operator==(const NetemQdisc&) const = default;
};

/// One netfilter queue: the packets that leave by one interface.
struct PacketQueue {
  std::uint16_t number = 0;
  std::string interface;
  Way way = Way::forward;
  Direction direction;      ///< with the programmed delay
  std::uint32_t limit = 0;  ///< packets
  bool operator==(const PacketQueue&) const = default;
};

struct Plan {
  std::string engine;
  Impairment asked;
  Nanoseconds programmed_forward{0};
  Nanoseconds programmed_back{0};
  std::vector<NetemQdisc> qdiscs;
  std::vector<PacketQueue> queues;
  std::string ruleset;  ///< nft text that makes the whole table; empty: none

  bool empty() const { return qdiscs.empty() && queues.empty(); }
  Nanoseconds programmed(Way way) const { return way == Way::forward ? programmed_forward : programmed_back; }
  /// Largest queue of this way, packets; 0: none.
  std::uint32_t limit(Way way) const;
};

/// netem, nfqueue.
const std::vector<std::string>& engine_names();

/// Whether `engine` can do what is asked; the refusal names engine and axis. (For campaigns, before anything runs.)
Result<void> check_engine(const Impairment& impairment, std::string_view engine);

/// A direction of which nothing is asked gets no kernel objects. Refuses what check_engine refuses.
Result<Plan> make_plan(const Impairment& impairment, std::string_view engine, const Sides& sides,
                       const Lateness& lateness);

/// Packets that a queue must hold: those that are on the way (rate x longest delay) and, where the rate is limited, a
/// bottleneck buffer of one bandwidth-delay product of the round trip. An unlimited rate counts as kAssumedRate.
std::uint32_t queue_limit(const Direction& direction, Nanoseconds round_trip, std::int64_t mtu);

inline constexpr BitRate kAssumedRate{10'000'000'000};
inline constexpr std::uint32_t kMinQueue = 128;
/// 10 Gbit/s for 1.2 s at MTU 1500; about 2 GiB of memory when it is really full.
inline constexpr std::uint32_t kMaxQueue = 1U << 20;

/// The loss model of a direction whose losses come in bursts; empty where they are independent or absent.
std::optional<Gilbert> gilbert(const Direction& direction);

/// A share of a million as the kernel's share of 2^32 - 1, rounded.
std::uint32_t kernel_probability(Ppm share);

}  // namespace longhaul::degen
