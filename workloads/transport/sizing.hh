// Settings of a transport for a path: pure functions of the round trip, the link and the device's limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/units.hh"

namespace longhaul::workloads {

/// What a client knows of a path once its control connection is made.
struct PathFacts {
  Nanoseconds round_trip{};
  BitRate link;  ///< of the client's network interface; 0: unknown
};

/// Bytes that buffers and queues must hold: the bandwidth-delay product, but no more than the workload has under way.
/// Unknown rate (0): what it has under way.
Bytes bytes_under_way(BitRate rate, Nanoseconds rtt, Bytes in_flight);

/// Entries of a send queue that hold `under_way` in messages of `message` bytes; at least `least`, at most the device's
/// limit.
std::uint32_t queue_depth(Bytes under_way, Bytes message, std::uint32_t least, std::uint32_t device_limit);

/// The local ack time-out of a queue pair: 4.096 us x 2^exponent (InfiniBand specification 9.7.6.1.3).
/// The smallest that is at least 4 round trips and at least 268 ms (TCP's least is 200 ms, and an emulated node may be
/// away for tens of ms); at most 31. With `windows` (ConnectionPlan::windows) at least 8.6 s: rxe's timer also runs out
/// where all that was sent when it was set has been acknowledged; it then sends again what is under way, and binds the
/// windows behind it a second time, which fails and leaves the queue standing (docs/rpc.md).
std::uint8_t ack_timeout_exponent(Nanoseconds rtt, bool windows = false);
Nanoseconds ack_timeout(std::uint8_t exponent);

/// Tries after the first, of both kinds; 7 means without end for "receiver not ready" (the harness has its own
/// time-out).
inline constexpr std::uint8_t kRetries = 7;
inline constexpr std::uint8_t kReceiverNotReadyRetries = 7;

/// Why the transport's window limits a message of this size, rather than link and delay; empty: it does not.
/// rxe sends at most 128 packets of its MTU before an acknowledgement (RXE_MAX_UNACKED_PSNS).
std::string window_limit(std::string_view provider, Bytes mtu, Bytes message);

/// The rate that the bytes under way at a time allow, whatever link and processors could do.
struct StreamCeiling {
  BitRate rate;  ///< 0: none is known
  std::string why;
};

/// window / rtt. `window`: bytes under way at most, over all `streams`; each of rxe's has its 128 packets of the MTU,
/// too.
StreamCeiling stream_ceiling(std::string_view provider, Nanoseconds rtt, Bytes window, Bytes mtu, std::int64_t streams);

/// Why a stream that reached `rate` was limited by the ceiling; empty: it was not. Limited: 0.85 of it is reached
/// (beyond, the round trip itself grows with the queue).
std::string stream_limit(BitRate rate, const StreamCeiling& ceiling);

}  // namespace longhaul::workloads
