// Packets that the router sees, and what the kernel tells degen of queues, qdiscs and filters.
#include <cstring>
#include <vector>

#include "degen/engines/edt/messages.hh"
#include "degen/engines/nfqueue/queue_message.hh"
#include "degen/engines/nfqueue/rewrite.hh"
#include "degen/service/capture.hh"
#include "tests/fuzz/input.hh"

namespace {

using namespace longhaul;

// A message of netlink: the kernel vouches for the length in its header, nobody for what is within.
void netlink(std::span<const std::byte> input) {
  if (input.size() < sizeof(nlmsghdr)) return;
  std::vector<std::byte> message(input.begin(), input.end());
  nlmsghdr header{};
  std::memcpy(&header, message.data(), sizeof header);
  header.nlmsg_len = static_cast<std::uint32_t>(message.size());
  std::memcpy(message.data(), &header, sizeof header);
  message.resize(NLMSG_ALIGN(message.size()));  // as the kernel fills it up
  const auto& whole = *reinterpret_cast<const nlmsghdr*>(message.data());
  if (const auto packet = degen::parse_packet(whole)) {
    const auto* begin = message.data();
    fuzz::require(packet->copy.empty() || (packet->copy.data() >= begin &&
                                           packet->copy.data() + packet->copy.size() <= begin + message.size()),
                  "a packet lies within its message");
  }
  (void)degen::parse_qdisc(whole);
  (void)degen::parse_filter(whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = fuzz::bytes_of(data, size);
  netlink(bytes);
  (void)degen::probe_in_packet(fuzz::text_of(data, size));
  (void)degen::is_probe(degen::flow_of(bytes));
  std::vector<std::byte> packet(bytes.begin(), bytes.end());
  const bool capable = degen::ecn_capable(packet);
  if (!packet.empty()) degen::rewrite(packet, {.mark = capable, .flip = size});
  return 0;
}
