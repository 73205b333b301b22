#include "degen/engines/netem/qdisc_message.hh"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>

#include "degen/impairment/distribution.hh"

namespace longhaul::degen {
namespace {

constexpr std::uint32_t kOwnQdisc = std::uint32_t{kOwnHandle} << 16;
// A distribution table takes 8 KiB, the rest less than 1.
constexpr std::size_t kMessageSize = 16 * 1024;

struct MessageDeleter {
  void operator()(nl_msg* message) const { nlmsg_free(message); }
};

// A message under construction. Memory is all that can fail here.
class Builder {
 public:
  Builder(int type, int flags) : message_(nlmsg_alloc_size(kMessageSize)) {
    if (!message_ || nlmsg_put(message_.get(), 0, 0, type, 0, flags) == nullptr) throw std::bad_alloc{};
  }

  template <typename T>
  void append(T value) {
    need(nlmsg_append(message_.get(), &value, sizeof value, NLMSG_ALIGNTO));
  }
  template <typename T>
  void put(int attribute, const T& value) {
    need(nla_put(message_.get(), attribute, sizeof value, &value));
  }
  void put(int attribute, const std::string& text) { need(nla_put_string(message_.get(), attribute, text.c_str())); }
  void put(int attribute, std::span<const std::int16_t> table) {
    need(nla_put(message_.get(), attribute, static_cast<int>(table.size_bytes()), table.data()));
  }
  nlattr* open(int attribute) {
    auto* nest = nla_nest_start(message_.get(), attribute);
    if (nest == nullptr) throw std::bad_alloc{};
    // tc sends its nests without NLA_F_NESTED; old kernels compare the type as a whole.
    nest->nla_type = static_cast<std::uint16_t>(attribute);
    return nest;
  }
  void close(nlattr* nest) { nla_nest_end(message_.get(), nest); }

  std::vector<std::byte> bytes() const {
    const auto* header = nlmsg_hdr(message_.get());
    const auto* begin = reinterpret_cast<const std::byte*>(header);
    return {begin, begin + header->nlmsg_len};
  }

 private:
  static void need(int result) {
    if (result < 0) throw std::bad_alloc{};
  }
  std::unique_ptr<nl_msg, MessageDeleter> message_;
};

tcmsg root_of(int index) {
  tcmsg header{};
  header.tcm_family = AF_UNSPEC;
  header.tcm_ifindex = index;
  header.tcm_handle = kOwnQdisc;
  header.tcm_parent = TC_H_ROOT;
  return header;
}

// The old 32-bit fields count in ticks of 64 ns; the 64-bit attributes, which every kernel since 4.15 reads, win.
std::uint32_t ticks(Nanoseconds time) {
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(time.count() >> 6, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::vector<std::byte> netem_message(int index, const NetemQdisc& qdisc, QdiscRequest request) {
  Builder message{RTM_NEWQDISC, request == QdiscRequest::create ? NLM_F_CREATE | NLM_F_EXCL : 0};
  message.append(root_of(index));
  message.put(TCA_KIND, std::string{"netem"});

  auto* options = message.open(TCA_OPTIONS);
  tc_netem_qopt qopt{};
  qopt.latency = ticks(qdisc.latency);
  qopt.limit = qdisc.limit;
  qopt.loss = qdisc.loss;
  qopt.gap = qdisc.reorder > 0 ? 1 : 0;
  qopt.duplicate = qdisc.duplicate;
  qopt.jitter = ticks(qdisc.jitter);
  message.append(qopt);
  message.put(TCA_NETEM_CORR, tc_netem_corr{});
  message.put(TCA_NETEM_REORDER, tc_netem_reorder{.probability = qdisc.reorder, .correlation = 0});
  message.put(TCA_NETEM_CORRUPT, tc_netem_corrupt{});
  if (qdisc.bursts) {
    auto* loss = message.open(TCA_NETEM_LOSS);
    // h is 1 minus the loss in the bad state, k1 the loss in the good one: simple Gilbert.
    message.put(NETEM_LOSS_GE, tc_netem_gemodel{.p = qdisc.bursts->enter, .r = qdisc.bursts->leave, .h = 0, .k1 = 0});
    message.close(loss);
  }
  tc_netem_rate rate{};
  rate.rate =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(qdisc.rate, std::numeric_limits<std::uint32_t>::max()));
  message.put(TCA_NETEM_RATE, rate);
  if (qdisc.rate > rate.rate) message.put(TCA_NETEM_RATE64, qdisc.rate);
  message.put(TCA_NETEM_LATENCY64, std::int64_t{qdisc.latency.count()});
  message.put(TCA_NETEM_JITTER64, std::int64_t{qdisc.jitter.count()});
  if (qdisc.jitter.count() > 0) message.put(TCA_NETEM_DELAY_DIST, distribution_table(qdisc.distribution));
  message.close(options);
  return message.bytes();
}

std::vector<std::byte> delete_message(int index) {
  Builder message{RTM_DELQDISC, 0};
  message.append(root_of(index));
  return message.bytes();
}

std::vector<std::byte> dump_message() {
  Builder message{RTM_GETQDISC, NLM_F_DUMP};
  message.append(tcmsg{});
  return message.bytes();
}

bool QdiscFacts::root() const {
  return parent == TC_H_ROOT;
}

std::optional<QdiscFacts> parse_qdisc(const nlmsghdr& message) {
  // libnl's parsers take non-const pointers but only read.
  auto* mutable_message = const_cast<nlmsghdr*>(&message);
  if (message.nlmsg_type != RTM_NEWQDISC || !nlmsg_valid_hdr(mutable_message, sizeof(tcmsg))) return {};
  nlattr* attributes[TCA_MAX + 1];
  if (nlmsg_parse(mutable_message, sizeof(tcmsg), attributes, TCA_MAX, nullptr) < 0) return {};
  const auto* header = static_cast<const tcmsg*>(nlmsg_data(mutable_message));
  QdiscFacts facts{
      .index = header->tcm_ifindex, .handle = header->tcm_handle, .parent = header->tcm_parent, .kind = {}};
  if (attributes[TCA_KIND] != nullptr)
    facts.kind.assign(static_cast<const char*>(nla_data(attributes[TCA_KIND])),
                      strnlen(static_cast<const char*>(nla_data(attributes[TCA_KIND])),
                              static_cast<std::size_t>(nla_len(attributes[TCA_KIND]))));
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
