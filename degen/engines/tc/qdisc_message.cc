#include "degen/engines/tc/qdisc_message.hh"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>

#include "degen/engines/tc/message_builder.hh"
#include "degen/engines/tc/message_reader.hh"

namespace longhaul::degen {
namespace {

constexpr std::uint32_t kOwnQdisc = std::uint32_t{kOwnHandle} << 16;

}  // namespace

tcmsg root_of(int index) {
  tcmsg header{};
  header.tcm_family = AF_UNSPEC;
  header.tcm_ifindex = index;
  header.tcm_handle = kOwnQdisc;
  header.tcm_parent = TC_H_ROOT;
  return header;
}

std::vector<std::byte> delete_root_message(int index) {
  MessageBuilder message{RTM_DELQDISC, 0};
  message.append(root_of(index));
  return message.bytes();
}

std::vector<std::byte> dump_qdiscs_message() {
  MessageBuilder message{RTM_GETQDISC, NLM_F_DUMP};
  message.append(tcmsg{});
  return message.bytes();
}

bool QdiscFacts::root() const {
  return parent == TC_H_ROOT;
}

std::optional<QdiscFacts> parse_qdisc(const nlmsghdr& message) {
  const auto read = read_tc(message, RTM_NEWQDISC);
  if (!read) return {};
  const auto& [header, attributes] = *read;
  QdiscFacts facts{.index = header->tcm_ifindex,
                   .handle = header->tcm_handle,
                   .parent = header->tcm_parent,
                   .kind = text_of(attributes[TCA_KIND])};
  if (attributes[TCA_STATS2] != nullptr) {
    nlattr* statistics[TCA_STATS_MAX + 1];
    if (nla_parse_nested(statistics, TCA_STATS_MAX, attributes[TCA_STATS2], nullptr) == 0 &&
        statistics[TCA_STATS_QUEUE] != nullptr &&
        nla_len(statistics[TCA_STATS_QUEUE]) >= static_cast<int>(sizeof(gnet_stats_queue))) {
      const auto* queue = static_cast<const gnet_stats_queue*>(nla_data(statistics[TCA_STATS_QUEUE]));
      facts.drops = queue->drops;
      facts.queued = queue->qlen;
    }
  }
  return facts;
}

RootState judge_root(const std::optional<QdiscFacts>& root) {
  // Whatever somebody made bears a handle, and if the kernel chose it; what the kernel made itself bears none.
  if (!root || root->handle == 0) return RootState::vacant;
  return root->handle == kOwnQdisc ? RootState::ours : RootState::foreign;
}

Result<void> check_root(const std::string& interface, const std::optional<QdiscFacts>& root) {
  if (judge_root(root) != RootState::foreign) return {};
  return refuse(
      "{}: a root qdisc that is not degen's stands there: {} {:x}:{}; it is left alone. Remove it (tc qdisc del dev {} "
      "root) or use engine nfqueue",
      interface, root->kind, root->handle >> 16,
      (root->handle & 0xffff) == 0 ? std::string{} : fmt::format("{:x}", root->handle & 0xffff), interface);
}

}  // namespace longhaul::degen
