#include "degen/engines/netem/plan.hh"

#include "degen/engines/kernel.hh"

namespace longhaul::degen::netem {
namespace {

// With a rate, netem never lets a packet leave before the one in front of it (sch_netem.c, netem_enqueue: the last
// packet's time is the reference). So jitter that keeps the order is asked of it by a rate too high to matter: 30 ns
// for 1500 bytes.
constexpr std::uint64_t kOrderKeepingRate = 50'000'000'000;  // bytes/s

NetemQdisc qdisc_of(const Egress& egress, bool seeded) {
  const auto& direction = egress.direction;
  NetemQdisc qdisc{.interface = egress.interface, .way = egress.way, .bursts = {}, .seed = {}};
  if (seeded) qdisc.seed = egress.seed;
  qdisc.latency = direction.delay;
  qdisc.jitter = direction.jitter;
  qdisc.distribution = direction.distribution;
  qdisc.limit = egress.limit;
  qdisc.bursts = loss_model(direction);
  if (!qdisc.bursts) qdisc.loss = kernel_probability(direction.loss);
  qdisc.ecn = direction.ecn;
  qdisc.corrupt = kernel_probability(direction.corrupt);
  qdisc.duplicate = kernel_probability(direction.duplicate);
  qdisc.reorder = kernel_probability(direction.reorder);
  qdisc.rate = static_cast<std::uint64_t>(direction.rate.bits_per_second) / 8;
  if (direction.rate.bits_per_second > 0 && qdisc.rate == 0) qdisc.rate = 1;
  if (qdisc.rate == 0 && direction.jitter.count() > 0 && direction.keep_order) qdisc.rate = kOrderKeepingRate;
  return qdisc;
}

Result<void> check(const Impairment& impairment) {
  for (const auto way : {Way::forward, Way::back}) {
    const auto& direction = impairment.way(way);
    if (!direction.faults.none())
      return refuse("faults{}: engine netem does not tell one packet from another; use engine nfqueue", suffix_of(way));
    if (!direction.schedule.none())
      return refuse("schedule{}: engine netem changes nothing by itself; use engine nfqueue", suffix_of(way));
  }
  return {};
}

Footprint footprint(const ImpairmentPlan& plan) {
  Footprint footprint;
  for (const auto& egress : plan.egresses) footprint.interfaces.push_back(egress.interface);
  return footprint;
}

}  // namespace

std::vector<NetemQdisc> qdiscs_of(const ImpairmentPlan& plan, bool seeded) {
  std::vector<NetemQdisc> qdiscs;
  for (const auto& egress : plan.egresses) qdiscs.push_back(qdisc_of(egress, seeded));
  return qdiscs;
}

bool draws_by_seed(std::string_view release) {
  return at_least(release, 6, 7);
}

Result<void> check_seed(const ImpairmentPlan& plan, std::string_view release) {
  if (!plan.seed.asked || !plan.asked.random() || draws_by_seed(release)) return {};
  return refuse(
      "seed: engine netem takes one since Linux 6.7, this is {}: here it draws from the kernel's random numbers; use "
      "engine edt or nfqueue",
      release);
}

Planner planner() {
  return {.name = "netem", .preference = 2, .check = check, .footprint = footprint};
}

}  // namespace longhaul::degen::netem
