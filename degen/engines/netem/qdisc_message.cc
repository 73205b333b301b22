#include "degen/engines/netem/qdisc_message.hh"

#include <linux/pkt_sched.h>

#include <algorithm>
#include <limits>

#include "degen/engines/tc/message_builder.hh"
#include "degen/impairment/distribution.hh"

namespace longhaul::degen {
namespace {

// The old 32-bit fields count in ticks of 64 ns; the 64-bit attributes, which every kernel since 4.15 reads, win.
std::uint32_t ticks(Nanoseconds time) {
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(time.count() >> 6, std::numeric_limits<std::uint32_t>::max()));
}

// TCA_NETEM_PRNG_SEED of Linux 6.7; Debian 12's headers are of 6.1.
constexpr int kPrngSeed = 14;

}  // namespace

std::vector<std::byte> netem_message(int index, const NetemQdisc& qdisc, QdiscRequest request) {
  MessageBuilder message{RTM_NEWQDISC, request == QdiscRequest::create ? NLM_F_CREATE | NLM_F_EXCL : 0};
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
  message.put(TCA_NETEM_CORRUPT, tc_netem_corrupt{.probability = qdisc.corrupt, .correlation = 0});
  message.put(TCA_NETEM_ECN, std::uint32_t{qdisc.ecn ? 1U : 0U});
  if (qdisc.bursts) {
    auto* loss = message.open(TCA_NETEM_LOSS);
    // h is 1 minus the loss in the bad state, k1 the loss in the good one (sch_netem.c, loss_gilb_ell).
    message.put(NETEM_LOSS_GE, tc_netem_gemodel{.p = qdisc.bursts->enter,
                                                .r = qdisc.bursts->leave,
                                                .h = kCertain - qdisc.bursts->loss_bad,
                                                .k1 = qdisc.bursts->loss_good});
    message.close(loss);
  }
  tc_netem_rate rate{};
  rate.rate =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(qdisc.rate, std::numeric_limits<std::uint32_t>::max()));
  message.put(TCA_NETEM_RATE, rate);
  if (qdisc.rate > rate.rate) message.put(TCA_NETEM_RATE64, qdisc.rate);
  message.put(TCA_NETEM_LATENCY64, std::int64_t{qdisc.latency.count()});
  message.put(TCA_NETEM_JITTER64, std::int64_t{qdisc.jitter.count()});
  if (qdisc.seed) message.put(kPrngSeed, *qdisc.seed);
  if (qdisc.jitter.count() > 0) message.put(TCA_NETEM_DELAY_DIST, distribution_table(qdisc.distribution));
  message.close(options);
  return message.bytes();
}

}  // namespace longhaul::degen
