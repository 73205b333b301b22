#include "degen/engines/edt/plan.hh"

#include <algorithm>

#include "degen/engines/kernel.hh"
#include "degen/impairment/distribution.hh"

namespace longhaul::degen::edt {
namespace {

// fq's horizon ends at 2^32 us. Below this rate a queue of kMinQueue packets of 64 KiB lasts longer.
constexpr BitRate kSlowest{20'000};
constexpr Nanoseconds kLongestHeld = std::chrono::microseconds{std::int64_t{1} << 32};
constexpr std::int64_t kLargest = 65'536;  // bytes of a packet, whatever the interface
// Where order is free each packet has a flow, half of EDT_FLOW_MASK of them: as many trees, so that they are found at
// once.
constexpr std::uint32_t kFreeFlowsLog = 16;

bool overtaking(const Direction& direction) {
  return direction.jitter.count() > 0 && !direction.keep_order;
}

EdtLink link_of(const ImpairmentPlan& plan, const Egress& egress) {
  const auto& direction = egress.direction;
  EdtLink link{
      .interface = egress.interface, .way = egress.way, .origins = {}, .direction = direction, .seed = egress.seed};
  for (const auto& interface : plan.sides.ingress(egress.way)) link.origins.push_back(interface.name);
  link.fq.limit = egress.limit;
  if (direction.rate.bits_per_second > 0) {
    // fq's length is no use here: a packet that it drops would have taken its time on the link. So the program drops,
    // by the time that the queue's packets take if they are full; what of smaller ones fits into that time must fit
    // into fq.
    const auto mtu = plan.mtu(egress);
    const auto frame = mtu + kLinkHeader;
    const auto whole = time_on_link(frame * egress.limit, direction.rate) - direction.delay;
    link.patience = egress.patience.count() > 0 ? egress.patience
                                                : std::max(whole, time_on_link(frame * kMinQueue, direction.rate));
    link.fq.limit = places(egress.limit, mtu);
  }
  const auto longest = direction.longest() + link.patience + std::chrono::seconds{1};
  link.fq.horizon = static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::microseconds>(longest).count());
  if (overtaking(direction)) link.fq.buckets_log = kFreeFlowsLog;
  return link;
}

Result<void> check(const Impairment& impairment) {
  for (const auto way : {Way::forward, Way::back}) {
    const auto& direction = impairment.way(way);
    const auto suffix = suffix_of(way);
    if (direction.duplicate.parts > 0)
      return refuse("duplicate{}: engine edt decides on packets, it cannot make any; use engine netem", suffix);
    if (direction.corrupt.parts > 0)
      return refuse(
          "corrupt{}: engine edt cannot: where the checksum is left to a network interface it would be made of the "
          "flipped bit; use engine netem or nfqueue",
          suffix);
    if (!direction.faults.none())
      return refuse("faults{}: engine edt does not number packets; use engine nfqueue", suffix);
    if (!direction.schedule.none())
      return refuse("schedule{}: engine edt has one delay, loss and rate; use engine nfqueue", suffix);
    if (direction.rate.bits_per_second > 0 && direction.rate.bits_per_second < kSlowest.bits_per_second)
      return refuse(
          "rate{}: {} is less than the {} of engine edt: a full queue would last longer than fq holds a packet (71 "
          "minutes); use engine netem or nfqueue",
          suffix, format_quantity(Kind::rate, direction.rate.bits_per_second),
          format_quantity(Kind::rate, kSlowest.bits_per_second));
    if (direction.queue > 0 && queue_patience(direction, kLargest) + direction.longest() > kLongestHeld)
      return refuse(
          "queue{}: {} packets at {} may last longer than fq, and so engine edt, holds one (71 minutes); use engine "
          "netem or nfqueue",
          suffix, direction.queue, format_quantity(Kind::rate, direction.rate.bits_per_second));
  }
  return {};
}

Footprint footprint(const ImpairmentPlan& plan) {
  Footprint footprint;
  for (const auto& egress : plan.egresses) footprint.interfaces.push_back(egress.interface);
  for (auto& name : arrivals_of(plan))
    if (std::find(footprint.interfaces.begin(), footprint.interfaces.end(), name) == footprint.interfaces.end())
      footprint.interfaces.push_back(std::move(name));
  return footprint;
}

}  // namespace

std::vector<EdtLink> links_of(const ImpairmentPlan& plan) {
  std::vector<EdtLink> links;
  for (const auto& egress : plan.egresses) links.push_back(link_of(plan, egress));
  return links;
}

std::vector<std::string> arrivals_of(const ImpairmentPlan& plan) {
  std::vector<std::string> names;
  for (const auto& egress : plan.egresses)
    for (const auto& interface : plan.sides.ingress(egress.way))
      if (std::find(names.begin(), names.end(), interface.name) == names.end()) names.push_back(interface.name);
  return names;
}

edt_terms terms_of(const EdtLink& link, std::span<const std::uint32_t> origins, std::uint64_t seed,
                   std::uint32_t generation) {
  const auto& direction = link.direction;
  edt_terms terms{};
  terms.delay = static_cast<std::uint64_t>(direction.delay.count());
  terms.jitter = static_cast<std::uint64_t>(direction.jitter.count());
  terms.rate = static_cast<std::uint64_t>(direction.rate.bits_per_second);
  terms.patience = static_cast<std::uint64_t>(link.patience.count());
  terms.seed = seed;
  if (const auto model = loss_model(direction)) {
    terms.enter = model->enter;
    terms.leave = model->leave;
    terms.loss_bad = model->loss_bad;
    terms.loss_good = model->loss_good;
  } else {
    terms.loss = kernel_probability(direction.loss);
  }
  terms.reorder = kernel_probability(direction.reorder);
  terms.keep_order = overtaking(direction) ? 0 : 1;
  terms.delay_only = direction.jitter.count() == 0 && direction.rate.bits_per_second == 0 && !direction.loses() &&
                     direction.reorder.parts == 0;
  terms.ecn = direction.ecn ? 1 : 0;
  terms.flow = (generation << 1) & EDT_FLOW_MASK;
  terms.origins = static_cast<std::uint32_t>(std::min(origins.size(), std::size_t{EDT_MOST_ORIGINS}));
  std::copy_n(origins.begin(), terms.origins, terms.origin);
  std::ranges::copy(distribution_table(direction.distribution), terms.table);
  return terms;
}

Result<void> check_kernel(std::string_view release) {
  if (at_least(release, 5, 18)) return {};
  return refuse(
      "engine edt needs Linux 5.18, this is {}: older ones forget a packet's delivery time when they forward it; use "
      "engine netem or nfqueue",
      release);
}

Planner planner() {
  return {.name = "edt", .preference = 1, .check = check, .footprint = footprint};
}

}  // namespace longhaul::degen::edt
