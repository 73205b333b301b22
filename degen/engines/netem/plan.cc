#include "degen/engines/netem/plan.hh"

#include <algorithm>

#include "degen/engines/kernel.hh"
#include "degen/impairment/draws.h"
#include "degen/impairment/timeline.hh"

namespace longhaul::degen::netem {
namespace {

// With a rate, netem never lets a packet leave before the one in front of it (sch_netem.c, netem_enqueue: the last
// packet's time is the reference). So jitter that keeps the order is asked of it by a rate too high to matter: 30 ns
// for 1500 bytes.
constexpr std::uint64_t kOrderKeepingRate = 50'000'000'000;  // bytes/s

NetemQdisc qdisc_of(const Egress& egress, bool seeded, Nanoseconds since) {
  auto direction = egress.direction;
  auto seed = egress.seed;
  if (!direction.schedule.none()) {
    const Timeline timeline{direction, Nanoseconds{0}};
    const auto span = timeline.span(since);
    direction.delay = span.moment.delay;
    direction.loss = span.moment.loss;
    direction.rate = span.moment.rate.rate;
    // netem begins its draws anew with each change.
    seed = degen_mix(seed + static_cast<std::uint64_t>(span.from.count()));
  }
  NetemQdisc qdisc{.interface = egress.interface, .way = egress.way, .bursts = {}, .seed = {}};
  if (seeded) qdisc.seed = seed;
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
  const bool varies = direction.jitter.count() > 0 || direction.schedule.changes_delay();
  if (qdisc.rate == 0 && varies && direction.keep_order) qdisc.rate = kOrderKeepingRate;
  return qdisc;
}

// degen makes the changes itself; what netem has already told a packet stays.
Result<void> check_steps(const Direction& direction, std::string_view suffix) {
  if (direction.schedule.none()) return {};
  const Timeline timeline{direction, Nanoseconds{0}};
  const auto& moments = timeline.moments();
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (moments[i].rate.down)
      return refuse(
          "schedule{}: engine netem gives a packet its time when it comes, it holds none until a link is up; use "
          "engine edt or nfqueue",
          suffix);
    if (timeline.end_of(i) - moments[i].at < kShortestStep)
      return refuse(
          "schedule{}: two changes {} apart: engine netem is changed by degen itself, {} apart at least; use "
          "engine edt or nfqueue",
          suffix, format_quantity(Kind::duration, (timeline.end_of(i) - moments[i].at).count()),
          format_quantity(Kind::duration, kShortestStep.count()));
  }
  return {};
}

Result<void> check(const Impairment& impairment) {
  for (const auto way : {Way::forward, Way::back}) {
    const auto& direction = impairment.way(way);
    if (!direction.faults.none())
      return refuse("faults{}: engine netem does not tell one packet from another; use engine edt or nfqueue",
                    suffix_of(way));
    if (auto ok = check_steps(direction, suffix_of(way)); !ok) return ok;
  }
  return {};
}

Footprint footprint(const ImpairmentPlan& plan) {
  Footprint footprint;
  for (const auto& egress : plan.egresses) footprint.interfaces.push_back(egress.interface);
  return footprint;
}

}  // namespace

std::vector<NetemQdisc> qdiscs_of(const ImpairmentPlan& plan, bool seeded, Nanoseconds since) {
  std::vector<NetemQdisc> qdiscs;
  for (const auto& egress : plan.egresses) qdiscs.push_back(qdisc_of(egress, seeded, since));
  return qdiscs;
}

std::optional<Nanoseconds> next_change(const ImpairmentPlan& plan, Nanoseconds since) {
  auto next = Nanoseconds::max();
  for (const auto& egress : plan.egresses)
    if (!egress.direction.schedule.none())
      next = std::min(next, Timeline{egress.direction, Nanoseconds{0}}.span(since).to);
  if (next == Nanoseconds::max()) return {};
  return next;
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
