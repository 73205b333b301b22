#include "degen/engines/edt/plan.hh"

#include <algorithm>
#include <bit>

#include "common/well_known.hh"
#include "degen/engines/kernel.hh"
#include "degen/impairment/distribution.hh"
#include "degen/impairment/timeline.hh"

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
  return (direction.jitter.count() > 0 || direction.schedule.changes_delay()) && !direction.keep_order;
}

// Without what a packet waits for the link.
Nanoseconds longest_on_the_way(const Direction& direction) {
  Nanoseconds fault{0};
  for (const auto& one : direction.faults.list) fault = std::max(fault, one.by);
  return direction.longest() + fault;
}

// Whether the link's bytes are counted by a schedule, be it that only the delay changes.
bool scheduled_rate(const Direction& direction) {
  return !direction.schedule.none() && direction.limited();
}

// As long as a full queue of so many bytes can last where the rate changes, or a little longer: what a packet spends in
// the moment in which it comes, and then all of them from the next one's begin.
Nanoseconds longest_wait(const Direction& direction, std::int64_t room) {
  const Timeline timeline{direction, Nanoseconds{0}};
  const auto& moments = timeline.moments();
  Nanoseconds longest{0};
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const auto& [at, delay, loss, rate] = moments[i];
    const auto end = timeline.end_of(i);
    const auto alone = rate.down ? Nanoseconds::max() : time_on_link(room, rate.rate);
    const auto wait =
        end == Nanoseconds::max() ? alone : std::min(alone, end - at) + timeline.off_link(end, room) - end;
    longest = std::max(longest, wait);
  }
  return longest;
}

// Where no length was asked for: what plan.hh gives the link beside the packets that are on the way behind it.
std::int64_t room_of(const Direction& direction, std::uint32_t limit, std::int64_t mtu) {
  const auto frame = mtu + kLinkHeader;
  if (direction.queue > 0) return queue_room(direction, mtu);
  return std::max(frame * limit - bytes_in_flight(fastest(direction), direction.longest()).count, frame * kMinQueue);
}

EdtLink link_of(const ImpairmentPlan& plan, const Egress& egress) {
  const auto& direction = egress.direction;
  EdtLink link{
      .interface = egress.interface, .way = egress.way, .origins = {}, .direction = direction, .seed = egress.seed};
  for (const auto& interface : plan.sides.ingress(egress.way)) link.origins.push_back(interface.name);
  link.fq.limit = egress.limit;
  auto longest = longest_on_the_way(direction) + std::chrono::seconds{1};
  if (scheduled_rate(direction)) {
    link.room = room_of(direction, egress.limit, plan.mtu(egress));
    link.fq.limit = places(egress.limit, plan.mtu(egress));
    longest += longest_wait(direction, link.room);
  } else if (direction.rate.bits_per_second > 0) {
    // fq's length is no use here: a packet that it drops would have taken its time on the link. So the program drops,
    // by the time that the queue's packets take if they are full; what of smaller ones fits into that time must fit
    // into fq.
    const auto mtu = plan.mtu(egress);
    const auto frame = mtu + kLinkHeader;
    const auto whole = time_on_link(frame * egress.limit, direction.rate) - direction.delay;
    link.patience = egress.patience.count() > 0 ? egress.patience
                                                : std::max(whole, time_on_link(frame * kMinQueue, direction.rate));
    link.fq.limit = places(egress.limit, mtu);
    longest += link.patience;
  }
  link.fq.horizon = static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::microseconds>(longest).count());
  if (overtaking(direction)) link.fq.buckets_log = kFreeFlowsLog;
  return link;
}

Result<void> check(const Impairment& impairment) {
  for (const auto way : {Way::forward, Way::back}) {
    const auto& direction = impairment.way(way);
    const auto suffix = suffix_of(way);
    if (direction.corrupt.parts > 0)
      return refuse(
          "corrupt{}: engine edt cannot: where the checksum is left to a network interface it would be made of the "
          "flipped bit; use engine netem or nfqueue",
          suffix);
    for (const auto& fault : direction.faults.list)
      if (fault.kind == Fault::Kind::swap)
        return refuse(
            "faults{}: swap: engine edt gives a packet its time when it comes, it cannot tell when the next one will; "
            "use engine nfqueue",
            suffix);
    if (scheduled_rate(direction)) {
      if (static_cast<std::uint64_t>(fastest(direction).bits_per_second) > EDT_FASTEST)
        return refuse("schedule{}: engine edt plays rates up to {}; use engine nfqueue", suffix,
                      format_quantity(Kind::rate, EDT_FASTEST));
      const auto room =
          room_of(direction, queue_limit(direction, impairment.forward.longest() + impairment.back.longest(), kLargest),
                  kLargest);
      if (longest_wait(direction, room) + longest_on_the_way(direction) > kLongestHeld)
        return refuse(
            "schedule{}: what waits for the link may wait for longer than fq, and so engine edt, holds a packet (71 "
            "minutes); use engine nfqueue",
            suffix);
      continue;
    }
    if (direction.rate.bits_per_second > 0 && direction.rate.bits_per_second < kSlowest.bits_per_second)
      return refuse(
          "rate{}: {} is less than the {} of engine edt: a full queue would last longer than fq holds a packet (71 "
          "minutes); use engine netem or nfqueue",
          suffix, format_quantity(Kind::rate, direction.rate.bits_per_second),
          format_quantity(Kind::rate, kSlowest.bits_per_second));
    if (direction.queue > 0 && queue_patience(direction, kLargest) + longest_on_the_way(direction) > kLongestHeld)
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

std::uint64_t harm_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::drop:
      return EDT_HARM_DROP;
    case Fault::Kind::delay:
      return EDT_HARM_DELAY;
    case Fault::Kind::duplicate:
      return EDT_HARM_DUPLICATE;
    case Fault::Kind::swap:
      break;
  }
  return EDT_HARM_NONE;  // refused by check()
}

void schedule_terms(const EdtLink& link, Nanoseconds begin, edt_terms& terms) {
  const auto& schedule = link.direction.schedule;
  const auto moments = moments_of(link);
  const auto padding = std::ranges::lower_bound(moments, EDT_NEVER, {}, &edt_moment::at);
  terms.moments = static_cast<std::uint32_t>(padding - moments.begin());
  terms.places = static_cast<std::uint32_t>(moments.size());
  terms.begin = static_cast<std::uint64_t>(begin.count());
  terms.repeat = static_cast<std::uint64_t>(schedule.repeat.count());
  const auto& last = moments[terms.moments - 1];
  if (terms.repeat > 0) terms.work = last.work + edt_work_of(last.rate, terms.repeat - last.at);
  // A byte more: what a link has done is rounded, and a packet that just fits must not be turned away for that.
  terms.room = static_cast<std::uint64_t>(link.room + 1) * 8 * EDT_WORK_PER_BIT;
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
                   std::uint32_t generation, Nanoseconds begin) {
  const auto& direction = link.direction;
  edt_terms terms{};
  if (!direction.schedule.none()) schedule_terms(link, begin, terms);
  terms.delay = static_cast<std::uint64_t>(direction.delay.count());
  terms.jitter = static_cast<std::uint64_t>(direction.jitter.count());
  terms.rate = static_cast<std::uint64_t>(fastest(direction).bits_per_second);
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
  terms.duplicate = kernel_probability(direction.duplicate);
  terms.numbered = direction.faults.none() ? 0 : 1;
  terms.probe_port = kProbePort;
  terms.of_protocol = direction.faults.flow.protocol;
  terms.of_port = direction.faults.flow.port;
  terms.keep_order = overtaking(direction) ? 0 : 1;
  terms.delay_only = direction.jitter.count() == 0 && direction.rate.bits_per_second == 0 && !direction.loses() &&
                     direction.reorder.parts == 0 && direction.duplicate.parts == 0 && direction.faults.none() &&
                     direction.schedule.none();
  terms.ecn = direction.ecn ? 1 : 0;
  terms.flow = (generation << 1) & EDT_FLOW_MASK;
  terms.origins = static_cast<std::uint32_t>(std::min(origins.size(), std::size_t{EDT_MOST_ORIGINS}));
  std::copy_n(origins.begin(), terms.origins, terms.origin);
  std::ranges::copy(distribution_table(direction.distribution), terms.table);
  return terms;
}

std::vector<edt_moment> moments_of(const EdtLink& link) {
  std::vector<edt_moment> moments;
  if (link.direction.schedule.none()) return moments;
  const Timeline timeline{link.direction, Nanoseconds{0}};
  for (const auto& moment : timeline.moments()) {
    const auto at = static_cast<std::uint64_t>(moment.at.count());
    const auto rate = moment.rate.down ? 0 : static_cast<std::uint64_t>(moment.rate.rate.bits_per_second);
    const auto work =
        moments.empty() ? 0 : moments.back().work + edt_work_of(moments.back().rate, at - moments.back().at);
    moments.push_back({.at = at,
                       .work = work,
                       .delay = static_cast<std::uint64_t>(moment.delay.count()),
                       .loss = kernel_probability(moment.loss),
                       .rate = rate});
  }
  moments.resize(std::bit_ceil(moments.size()),
                 edt_moment{.at = EDT_NEVER, .work = EDT_NEVER, .delay = 0, .loss = 0, .rate = 0});
  return moments;
}

std::vector<edt_fault> faults_of(const EdtLink& link) {
  static_assert(kMostFaults == EDT_MOST_FAULTS);
  std::vector<edt_fault> faults;
  for (const auto& fault : link.direction.faults.list)
    faults.push_back({.first = fault.first,
                      .last = fault.last,
                      .harm = harm_of(fault.kind),
                      .by = static_cast<std::uint64_t>(fault.by.count())});
  faults.resize(kMostFaults, edt_fault{.first = EDT_NEVER, .last = EDT_NEVER, .harm = EDT_HARM_NONE, .by = 0});
  return faults;
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
