// Messages of nfnetlink_queue, as bytes. Pure.
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "degen/engines/nfqueue/scheduler.hh"

namespace longhaul::degen {

/// Sequence number of bind and unbind; verdicts have 0. So their answers can be told apart.
inline constexpr std::uint32_t kConfigurationSequence = 1;

/// What the kernel gives of each packet besides its metadata.
enum class Copied : std::uint32_t {
  nothing = 0,
  length = 4,    ///< as little as brings the length with it
  headers = 64,  ///< the longest IPv4 header, or IPv6's, and the ports
  /// All of it, for who changes it: GSO packets are taken apart before, and checksums made.
  whole = 0xffff
};

/// Binds a queue to the sending socket (asks for an acknowledgement): at most `limit` packets, GSO packets as they are
/// but with Copied::whole.
std::vector<std::byte> bind_message(std::uint16_t queue, std::uint32_t limit, Copied copied);

std::vector<std::byte> unbind_message(std::uint16_t queue);

/// Changes nothing (a command that kernels since 3.8 take and ignore): its acknowledgement says whether there are
/// queues.
std::vector<std::byte> inquiry_message();

/// Appends one verdict's message to `buffer`; several may be sent at once. `changed`: the whole packet, of the length
/// that it had; empty: it goes as it came.
void append_verdict(std::vector<std::byte>& buffer, std::uint16_t queue, const Verdict& verdict,
                    std::span<const std::byte> changed = {});

struct QueuedPacket {
  std::uint32_t id = 0;
  std::uint32_t bytes = 0;           ///< of the IP packet; 0 when the queue was bound without lengths
  FlowKey key{};                     ///< of its flow; of none when the queue was bound without headers
  std::span<const std::byte> copy;   ///< as much of the IP packet as the queue was bound for; in the message
  std::optional<Nanoseconds> stamp;  ///< arrival, CLOCK_REALTIME, whole microseconds; empty: the kernel made none
};

/// By the first bytes of an IPv4 or IPv6 packet.
FlowKey flow_of(std::span<const std::byte> packet);

/// Empty when the message brings no packet.
std::optional<QueuedPacket> parse_packet(const nlmsghdr& message);

}  // namespace longhaul::degen
