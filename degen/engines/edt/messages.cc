#include "degen/engines/edt/messages.hh"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>

#include "degen/engines/tc/message_builder.hh"
#include "degen/engines/tc/message_reader.hh"

namespace longhaul::degen {
namespace {

tcmsg clsact_of(int index) {
  tcmsg header{};
  header.tcm_family = AF_UNSPEC;
  header.tcm_ifindex = index;
  header.tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0);
  header.tcm_parent = TC_H_CLSACT;
  return header;
}

tcmsg filters_of(int index, Hook hook) {
  tcmsg header{};
  header.tcm_family = AF_UNSPEC;
  header.tcm_ifindex = index;
  header.tcm_parent =
      TC_H_MAKE(TC_H_CLSACT, hook == Hook::ingress ? TC_H_MIN(TC_H_MIN_INGRESS) : TC_H_MIN(TC_H_MIN_EGRESS));
  return header;
}

tcmsg own_filter(int index, Hook hook) {
  auto header = filters_of(index, hook);
  header.tcm_handle = kOwnHandle;
  header.tcm_info = TC_H_MAKE(std::uint32_t{kOwnPriority} << 16, std::uint32_t{htons(ETH_P_ALL)});
  return header;
}

}  // namespace

std::vector<std::byte> fq_message(int index, const FqQdisc& qdisc, QdiscRequest request) {
  MessageBuilder message{RTM_NEWQDISC, request == QdiscRequest::create ? NLM_F_CREATE | NLM_F_EXCL : 0};
  message.append(root_of(index));
  message.put(TCA_KIND, std::string{"fq"});
  auto* options = message.open(TCA_OPTIONS);
  message.put(TCA_FQ_PLIMIT, qdisc.limit);
  message.put(TCA_FQ_FLOW_PLIMIT, qdisc.limit);
  message.put(TCA_FQ_RATE_ENABLE, std::uint32_t{0});
  message.put(TCA_FQ_BUCKETS_LOG, qdisc.buckets_log);
  message.put(TCA_FQ_ORPHAN_MASK, std::uint32_t{EDT_FLOW_MASK});
  message.put(TCA_FQ_TIMER_SLACK, std::uint32_t{0});
  message.put(TCA_FQ_HORIZON, qdisc.horizon);
  message.close(options);
  return message.bytes();
}

std::vector<std::byte> clsact_message(int index) {
  MessageBuilder message{RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL};
  message.append(clsact_of(index));
  message.put(TCA_KIND, std::string{"clsact"});
  return message.bytes();
}

std::vector<std::byte> delete_clsact_message(int index) {
  MessageBuilder message{RTM_DELQDISC, 0};
  message.append(clsact_of(index));
  return message.bytes();
}

std::vector<std::byte> filter_message(int index, Hook hook, int fd, std::string_view name) {
  MessageBuilder message{RTM_NEWTFILTER, NLM_F_CREATE};
  message.append(own_filter(index, hook));
  message.put(TCA_KIND, std::string{"bpf"});
  auto* options = message.open(TCA_OPTIONS);
  message.put(TCA_BPF_FD, static_cast<std::uint32_t>(fd));
  message.put(TCA_BPF_NAME, std::string{name});
  message.put(TCA_BPF_FLAGS, std::uint32_t{TCA_BPF_FLAG_ACT_DIRECT});
  message.close(options);
  return message.bytes();
}

std::vector<std::byte> delete_filter_message(int index, Hook hook) {
  MessageBuilder message{RTM_DELTFILTER, 0};
  message.append(own_filter(index, hook));
  message.put(TCA_KIND, std::string{"bpf"});
  return message.bytes();
}

std::vector<std::byte> dump_filters_message(int index, Hook hook) {
  MessageBuilder message{RTM_GETTFILTER, NLM_F_DUMP};
  message.append(filters_of(index, hook));
  return message.bytes();
}

bool FilterFacts::ours() const {
  return kind == "bpf" && handle == kOwnHandle && priority == kOwnPriority &&
         (name == kOwnFilter || name == kOwnFilterAndClsact);
}

bool FilterFacts::in_the_way() const {
  // BPF filters share a priority; those of other kinds, or with our handle, do not make room.
  return priority == kOwnPriority && !ours() && (kind != "bpf" || handle == kOwnHandle);
}

std::optional<FilterFacts> parse_filter(const nlmsghdr& message) {
  const auto read = read_tc(message, RTM_NEWTFILTER);
  if (!read) return {};
  const auto& [header, attributes] = *read;
  FilterFacts facts{.handle = header->tcm_handle,
                    .priority = static_cast<std::uint16_t>(TC_H_MAJ(header->tcm_info) >> 16),
                    .kind = text_of(attributes[TCA_KIND]),
                    .name = {}};
  nlattr* options[TCA_BPF_MAX + 1];
  if (facts.kind == "bpf" && attributes[TCA_OPTIONS] != nullptr &&
      nla_parse_nested(options, TCA_BPF_MAX, attributes[TCA_OPTIONS], nullptr) == 0)
    facts.name = text_of(options[TCA_BPF_NAME]);
  return facts;
}

bool holds_filters(const QdiscFacts& qdisc) {
  return qdisc.parent == TC_H_CLSACT;  // the same number as TC_H_INGRESS
}

}  // namespace longhaul::degen
