// rdma_cm: events with a deadline, and what the two ends tell one another while they connect.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/transport/plan.hh"
#include "workloads/transport/verbs/owners.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

/// An end's introduction in the private data: whose connection this is, and where its memory is.
struct Introduction {
  std::uint64_t session = 0;
  std::uint16_t lane = 0;
  std::uint32_t rkey = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  bool operator==(const Introduction&) const = default;
};

/// 36 bytes, big-endian; an InfiniBand request leaves 56 for the user.
inline constexpr std::size_t kIntroductionSize = 36;
std::array<char, kIntroductionSize> encode(const Introduction& introduction);
/// Empty when it is not one of ours, or of another version. Longer is fine: providers pad.
std::optional<Introduction> decode_introduction(std::string_view bytes);

/// An event, already acknowledged.
struct CmEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_ERROR;
  int status = 0;
  rdma_cm_id* id = nullptr;
  std::string private_data;              ///< of a request, or of an answer; padded by some providers
  std::uint8_t responder_resources = 0;  ///< the peer's wish, for reads
  std::uint8_t initiator_depth = 0;
};

/// A non-blocking channel. Throws std::system_error when there is no RDMA connection manager (module rdma_ucm).
EventChannel open_channel();
/// The next event, without waiting.
std::optional<CmEvent> next_event(rdma_event_channel* channel);
/// The next event; empty at the deadline. Throws Interrupted.
std::optional<CmEvent> await_event(rdma_event_channel* channel, const Patience& patience);
/// Waits for `wanted`. `attempted` is for the error: "connect to 10.0.0.2".
Attempt<CmEvent> expect_event(rdma_event_channel* channel, rdma_cm_event_type wanted, const Patience& patience,
                              const std::string& attempted);

}  // namespace longhaul::workloads
