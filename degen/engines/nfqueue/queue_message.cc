#include "degen/engines/nfqueue/queue_message.hh"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <libnetfilter_queue/libnetfilter_queue.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink_queue.h>

#include <array>
#include <cstring>
#include <span>

#include "common/well_known.hh"

namespace longhaul::degen {
namespace {

constexpr std::size_t kMessageSize = 256;

class Message {
 public:
  Message(int type, std::uint16_t queue) : header_(nfq_nlmsg_put(buffer_.data(), type, queue)) {}
  nlmsghdr* header() { return header_; }
  void append_to(std::vector<std::byte>& out) const {
    const auto* begin = reinterpret_cast<const std::byte*>(buffer_.data());
    out.insert(out.end(), begin, begin + NLMSG_ALIGN(header_->nlmsg_len));
  }

 private:
  alignas(nlmsghdr) std::array<char, kMessageSize> buffer_{};
  nlmsghdr* header_;
};

void acknowledge(Message& message) {
  message.header()->nlmsg_flags |= NLM_F_ACK;
  message.header()->nlmsg_seq = kConfigurationSequence;
}

std::vector<std::byte> command(std::uint16_t queue, std::uint8_t what) {
  std::vector<std::byte> out;
  Message message{NFQNL_MSG_CONFIG, queue};
  acknowledge(message);
  nfq_nlmsg_cfg_put_cmd(message.header(), 0, what);
  message.append_to(out);
  return out;
}

std::uint64_t from_big_endian(std::uint64_t value) {
  return be64toh(value);
}

}  // namespace

std::vector<std::byte> bind_message(std::uint16_t queue, std::uint32_t limit, Copied copied) {
  std::vector<std::byte> out;
  Message bind{NFQNL_MSG_CONFIG, queue};
  acknowledge(bind);
  nfq_nlmsg_cfg_put_cmd(bind.header(), 0, NFQNL_CFG_CMD_BIND);
  // The kernel gives NFQA_CAP_LEN, the whole length, with a truncated payload only.
  nfq_nlmsg_cfg_put_params(bind.header(), copied == Copied::nothing ? NFQNL_COPY_META : NFQNL_COPY_PACKET,
                           static_cast<int>(copied));
  nfq_nlmsg_cfg_put_qmaxlen(bind.header(), limit);
  mnl_attr_put_u32(bind.header(), NFQA_CFG_FLAGS, htonl(copied == Copied::whole ? 0 : NFQA_CFG_F_GSO));
  mnl_attr_put_u32(bind.header(), NFQA_CFG_MASK, htonl(NFQA_CFG_F_GSO));
  bind.append_to(out);
  return out;
}

std::vector<std::byte> unbind_message(std::uint16_t queue) {
  return command(queue, NFQNL_CFG_CMD_UNBIND);
}

std::vector<std::byte> inquiry_message() {
  return command(0, NFQNL_CFG_CMD_PF_BIND);
}

void append_verdict(std::vector<std::byte>& buffer, std::uint16_t queue, const Verdict& verdict,
                    std::span<const std::byte> changed) {
  const bool batch = verdict.kind == VerdictKind::accept_through;
  Message message{batch ? NFQNL_MSG_VERDICT_BATCH : NFQNL_MSG_VERDICT, queue};
  nfq_nlmsg_verdict_put(message.header(), static_cast<int>(verdict.id),
                        verdict.kind == VerdictKind::drop ? NF_DROP : NF_ACCEPT);
  const auto start = buffer.size();
  message.append_to(buffer);
  if (changed.empty()) return;
  const nlattr attribute{.nla_len = static_cast<std::uint16_t>(NLA_HDRLEN + changed.size()), .nla_type = NFQA_PAYLOAD};
  const auto* head = reinterpret_cast<const std::byte*>(&attribute);
  buffer.insert(buffer.end(), head, head + sizeof attribute);
  buffer.insert(buffer.end(), changed.begin(), changed.end());
  buffer.resize(start + NLMSG_ALIGN(buffer.size() - start));
  const auto length = static_cast<std::uint32_t>(buffer.size() - start);
  std::memcpy(buffer.data() + start + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
}

FlowKey flow_of(std::span<const std::byte> packet) {
  const auto byte = [&](std::size_t at) { return at < packet.size() ? std::to_integer<unsigned>(packet[at]) : 0U; };
  const auto version = byte(0) >> 4;
  if (version != 4 && version != 6) return {};
  FlowKey key{.protocol = static_cast<std::uint8_t>(byte(version == 4 ? 9 : 6))};
  const std::size_t header = version == 4 ? std::size_t{4} * (byte(0) & 0xf) : 40;
  const bool later_fragment = version == 4 && ((byte(6) << 8 | byte(7)) & 0x1fff) != 0;
  if ((key.protocol != IPPROTO_TCP && key.protocol != IPPROTO_UDP) || later_fragment || packet.size() < header + 4)
    return key;
  const auto port = [&](std::size_t at) {
    return static_cast<std::uint16_t>(byte(header + at) << 8 | byte(header + at + 1));
  };
  key.from = port(0);
  key.to = port(2);
  return key;
}

constexpr std::uint64_t kTooLate = std::uint64_t{1} << 33;  // s since 1970

std::optional<QueuedPacket> parse_packet(const nlmsghdr& message) {
  if (message.nlmsg_type != ((NFNL_SUBSYS_QUEUE << 8) | NFQNL_MSG_PACKET)) return {};
  std::array<nlattr*, NFQA_MAX + 1> attributes{};
  if (nfq_nlmsg_parse(&message, attributes.data()) < 0 || attributes[NFQA_PACKET_HDR] == nullptr ||
      mnl_attr_get_payload_len(attributes[NFQA_PACKET_HDR]) < sizeof(nfqnl_msg_packet_hdr))
    return {};
  QueuedPacket packet{.stamp = {}};
  packet.id =
      ntohl(static_cast<const nfqnl_msg_packet_hdr*>(mnl_attr_get_payload(attributes[NFQA_PACKET_HDR]))->packet_id);
  if (attributes[NFQA_CAP_LEN] != nullptr) {
    packet.bytes = ntohl(mnl_attr_get_u32(attributes[NFQA_CAP_LEN]));
  } else if (attributes[NFQA_PAYLOAD] != nullptr) {
    packet.bytes = mnl_attr_get_payload_len(attributes[NFQA_PAYLOAD]);
  }
  if (attributes[NFQA_PAYLOAD] != nullptr)
    packet.copy = std::span{static_cast<const std::byte*>(mnl_attr_get_payload(attributes[NFQA_PAYLOAD])),
                            mnl_attr_get_payload_len(attributes[NFQA_PAYLOAD])};
  packet.key = flow_of(packet.copy);
  nfqnl_msg_packet_timestamp stamp{};
  if (auto* attribute = attributes[NFQA_TIMESTAMP];
      attribute != nullptr && mnl_attr_get_payload_len(attribute) >= sizeof stamp) {
    // Attributes are aligned to 4 bytes, the struct wants 8.
    std::memcpy(&stamp, mnl_attr_get_payload(attribute), sizeof stamp);
    const auto seconds = from_big_endian(stamp.sec);
    const auto microseconds = from_big_endian(stamp.usec);
    // Nanoseconds of 64 bits end in 2262.
    if (seconds < kTooLate && microseconds < 1'000'000)
      packet.stamp = std::chrono::seconds{seconds} + std::chrono::microseconds{microseconds};
  }
  return packet;
}

}  // namespace longhaul::degen
