// A plan of impairment for any engine: the interfaces by which packets leave, and their treatment there.
// Pure. An engine's own planner (degen/engines/<name>/plan) makes its kernel objects of it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "degen/impairment/spec.hh"

namespace longhaul::degen {

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
  /// The interfaces by which packets of this way leave the router.
  const std::vector<Interface>& egress(Way way) const { return way == Way::forward ? server : client; }
  const std::vector<Interface>& ingress(Way way) const { return way == Way::forward ? client : server; }
};

/// Mean lateness of the engine's releases; taken off the delay that it is told.
struct Lateness {
  Nanoseconds forward{0};
  Nanoseconds back{0};
};

/// What the random parts of an impairment follow from.
struct Seed {
  std::uint32_t value = 0;
  bool asked = false;  ///< somebody named it: an engine that draws otherwise must refuse
  bool operator==(const Seed&) const = default;
};

inline constexpr std::uint32_t kCertain = std::numeric_limits<std::uint32_t>::max();

/// Losses by a model of two states, in the kernel's probabilities (of kCertain). A packet is lost by the state that it
/// finds; the state changes after it.
struct LossModel {
  std::uint32_t enter = 0;            ///< good -> bad, a packet
  std::uint32_t leave = 0;            ///< bad -> good; never 0
  std::uint32_t loss_bad = kCertain;  ///< in the bad state
  std::uint32_t loss_good = 0;        ///< in the good state
  bool operator==(const LossModel&) const = default;
};

/// An interface by which impaired packets leave the router.
struct Egress {
  std::string interface;
  Way way = Way::forward;
  Direction direction;      ///< with the programmed delay
  std::uint32_t limit = 0;  ///< packets that its queue must hold, of full length
  /// Where a queue's length was asked for and the rate stays: who would have left the link later than this after its
  /// arrival finds it full.
  Nanoseconds patience{0};
  std::uint64_t seed = 0;  ///< of this interface's own draws
  bool operator==(const Egress&) const = default;
};

struct ImpairmentPlan {
  std::string engine;
  Impairment asked;
  Nanoseconds programmed_forward{0};
  Nanoseconds programmed_back{0};
  std::vector<Egress> egresses;  ///< of both ways; none where nothing is asked
  Sides sides;
  Seed seed;

  bool empty() const { return egresses.empty(); }
  Nanoseconds programmed(Way way) const { return way == Way::forward ? programmed_forward : programmed_back; }
  /// Of an egress's interface.
  std::int64_t mtu(const Egress& egress) const;
  /// Largest queue of this way, packets; 0: none.
  std::uint32_t limit(Way way) const;
};

/// For an engine that can do what is asked. A direction of which nothing is asked has no egress.
ImpairmentPlan make_plan(const Impairment& impairment, std::string engine, const Sides& sides, const Lateness& lateness,
                         const Seed& seed = {});

/// Packets that a queue must hold: those that are on the way (rate x longest delay) and, where the rate is limited, a
/// bottleneck buffer: of the stated length and the packet on the link, or of one bandwidth-delay product of the round
/// trip. An unlimited rate counts as kAssumedRate.
std::uint32_t queue_limit(const Direction& direction, Nanoseconds round_trip, std::int64_t mtu);

/// The direction's rate, or the highest that its schedule has; 0: unlimited.
BitRate fastest(const Direction& direction);

/// Bytes of a queue of stated length and of the packet on the link; 0: none was stated.
std::int64_t queue_room(const Direction& direction, std::int64_t mtu);

/// How long they take; 0 too where the rate changes.
Nanoseconds queue_patience(const Direction& direction, std::int64_t mtu);

/// Smaller packets than full ones fit into the same time: as many places does a queue need for `limit` full ones.
std::uint32_t places(std::uint32_t limit, std::int64_t mtu);

/// What a packet's time on the link counts beside the IP packet, bytes: Ethernet's header, as netem has it.
inline constexpr std::int64_t kLinkHeader = 14;

/// How long so many bytes take on a link of this rate, which is limited.
Nanoseconds time_on_link(std::int64_t bytes, BitRate rate);

inline constexpr BitRate kAssumedRate{10'000'000'000};
inline constexpr std::uint32_t kMinQueue = 128;
/// 10 Gbit/s for 1.2 s at MTU 1500; about 2 GiB of memory when it is really full.
inline constexpr std::uint32_t kMaxQueue = 1U << 20;

/// The loss model of a direction: Gilbert-Elliott's as asked (ge_*), or Gilbert's simple one where losses come in
/// bursts (loss_burst: all packets of the bad state are lost, none of the good one); empty where losses are independent
/// or absent.
std::optional<LossModel> loss_model(const Direction& direction);

/// A share of a million as the kernel's share of 2^32 - 1, rounded.
std::uint32_t kernel_probability(Ppm share);

}  // namespace longhaul::degen
