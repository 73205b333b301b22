#include "workloads/transport/verbs/cm.hh"

#include <fcntl.h>
#include <poll.h>

#include <concepts>

#include "common/error.hh"

namespace longhaul::workloads {
namespace {

constexpr std::uint32_t kMagic = 0x4c485243;  // "LHRC"
constexpr std::uint16_t kVersion = 1;

template <std::unsigned_integral Int>
char* put(char* at, Int value) {
  for (std::size_t i = sizeof(Int); i-- > 0;) *at++ = static_cast<char>(value >> (8 * i));
  return at;
}

template <std::unsigned_integral Int>
Int take(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(sizeof(Int));
  return static_cast<Int>(value);
}

}  // namespace

std::array<char, kIntroductionSize> encode(const Introduction& introduction) {
  std::array<char, kIntroductionSize> bytes{};
  char* at = put(bytes.data(), kMagic);
  at = put(at, kVersion);
  at = put(at, introduction.lane);
  at = put(at, introduction.session);
  at = put(at, introduction.address);
  at = put(at, introduction.length);
  put(at, introduction.rkey);
  return bytes;
}

std::optional<Introduction> decode_introduction(std::string_view bytes) {
  if (bytes.size() < kIntroductionSize) return std::nullopt;
  if (take<std::uint32_t>(bytes) != kMagic || take<std::uint16_t>(bytes) != kVersion) return std::nullopt;
  Introduction introduction;
  introduction.lane = take<std::uint16_t>(bytes);
  introduction.session = take<std::uint64_t>(bytes);
  introduction.address = take<std::uint64_t>(bytes);
  introduction.length = take<std::uint64_t>(bytes);
  introduction.rkey = take<std::uint32_t>(bytes);
  return introduction;
}

EventChannel open_channel() {
  EventChannel channel{::rdma_create_event_channel()};
  if (!channel) throw_errno("open the RDMA connection manager (are there an RDMA device and module rdma_ucm?)");
  const int flags = check(::fcntl(channel->fd, F_GETFL), "read the flags of an rdma_cm channel");
  check(::fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK), "make an rdma_cm channel non-blocking");
  return channel;
}

std::optional<CmEvent> next_event(rdma_event_channel* channel) {
  rdma_cm_event* raw = nullptr;
  if (::rdma_get_cm_event(channel, &raw) != 0) {
    if (errno == EAGAIN || errno == EINTR) return std::nullopt;
    throw_errno("read an rdma_cm event");
  }
  CmEvent event{
      raw->event, raw->status, raw->id, {}, raw->param.conn.responder_resources, raw->param.conn.initiator_depth};
  if (raw->param.conn.private_data != nullptr &&
      (raw->event == RDMA_CM_EVENT_CONNECT_REQUEST || raw->event == RDMA_CM_EVENT_ESTABLISHED))
    event.private_data.assign(static_cast<const char*>(raw->param.conn.private_data), raw->param.conn.private_data_len);
  check(::rdma_ack_cm_event(raw), "acknowledge an rdma_cm event");
  return event;
}

std::optional<CmEvent> await_event(rdma_event_channel* channel, const Patience& patience) {
  for (;;) {
    if (auto event = next_event(channel)) return event;
    if (!wait_for(channel->fd, POLLIN, patience)) return std::nullopt;
  }
}

Attempt<CmEvent> expect_event(rdma_event_channel* channel, rdma_cm_event_type wanted, const Patience& patience,
                              const std::string& attempted) {
  const auto event = await_event(channel, patience);
  if (!event) return failed("{}: no answer in time ({} expected)", attempted, ::rdma_event_str(wanted));
  if (event->type == wanted) return *event;
  // The status of these is a negative errno; a rejection's is a reason code of InfiniBand or iWARP.
  if (event->status < 0)
    return failed("{}: {}: {}", attempted, ::rdma_event_str(event->type), errno_text(-event->status));
  return failed("{}: {} (status {})", attempted, ::rdma_event_str(event->type), event->status);
}

}  // namespace longhaul::workloads
