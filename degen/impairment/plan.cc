#include "degen/impairment/plan.hh"

#include <algorithm>
#include <cmath>

#include "degen/impairment/draws.h"

namespace longhaul::degen {
namespace {

std::int64_t packets(BitRate rate, Nanoseconds time, std::int64_t mtu) {
  return (bytes_in_flight(rate, time).count + mtu - 1) / mtu;
}

// One way's draws do not depend on whether anything is asked of the other one.
std::uint64_t seed_of(const Seed& seed, Way way, std::size_t position) {
  return degen_mix(std::uint64_t{seed.value} << 32 | (way == Way::back ? 1U << 16 : 0U) | (position + 1));
}

}  // namespace

std::uint32_t ImpairmentPlan::limit(Way way) const {
  std::uint32_t most = 0;
  for (const auto& egress : egresses)
    if (egress.way == way) most = std::max(most, egress.limit);
  return most;
}

std::int64_t ImpairmentPlan::mtu(const Egress& egress) const {
  for (const auto& interface : sides.egress(egress.way))
    if (interface.name == egress.interface) return interface.mtu;
  return Interface{}.mtu;
}

std::optional<LossModel> loss_model(const Direction& direction) {
  if (!direction.ge.none())
    return LossModel{.enter = kernel_probability(direction.ge.enter),
                     .leave = kernel_probability(direction.ge.leave),
                     .loss_bad = kernel_probability(direction.ge.loss_bad),
                     .loss_good = kernel_probability(direction.ge.loss_good)};
  if (direction.loss_burst <= 1 || direction.loss.parts == 0) return {};
  // Stationary loss p / (p + r) with mean burst 1 / r.
  const double loss = static_cast<double>(direction.loss.parts) / 1e6;
  const double leave = 1.0 / static_cast<double>(direction.loss_burst);
  const double enter = loss >= 1 ? 1 : std::min(1.0, leave * loss / (1 - loss));
  const auto scaled = [](double p) {
    return static_cast<std::uint32_t>(std::llround(p * static_cast<double>(kCertain)));
  };
  return LossModel{.enter = scaled(enter), .leave = scaled(leave)};
}

std::uint32_t kernel_probability(Ppm share) {
  const auto parts = static_cast<std::uint64_t>(share.parts);
  return static_cast<std::uint32_t>((parts * kCertain + 500'000) / 1'000'000);
}

Nanoseconds time_on_link(std::int64_t bytes, BitRate rate) {
  return Nanoseconds{
      static_cast<std::int64_t>(static_cast<double>(bytes) * 8e9 / static_cast<double>(rate.bits_per_second))};
}

BitRate fastest(const Direction& direction) {
  auto rate = direction.rate;
  for (const auto& change : direction.schedule.changes)
    if (change.rate) rate = std::max(rate, change.rate->rate);
  return rate;
}

std::uint32_t queue_limit(const Direction& direction, Nanoseconds round_trip, std::int64_t mtu) {
  const bool limited = direction.limited();
  const auto rate = limited ? fastest(direction) : kAssumedRate;
  std::int64_t limit = packets(rate, direction.longest(), mtu);
  if (direction.queue > 0) {
    limit += direction.queue + 1;
  } else {
    if (limited) limit += packets(rate, round_trip, mtu);
    limit += kMinQueue;  // a burst must fit on the shortest and slowest of links
  }
  if (direction.duplicate.parts > 0) limit *= 2;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(limit, kMaxQueue));
}

Nanoseconds queue_patience(const Direction& direction, std::int64_t mtu) {
  if (direction.queue == 0 || direction.schedule.changes_rate()) return Nanoseconds{0};
  return time_on_link(queue_room(direction, mtu), direction.rate);
}

std::int64_t queue_room(const Direction& direction, std::int64_t mtu) {
  return direction.queue == 0 ? 0 : (direction.queue + 1) * (mtu + kLinkHeader);
}

std::uint32_t places(std::uint32_t limit, std::int64_t mtu) {
  constexpr std::int64_t kSmallest = 60;  // bytes of a frame
  return static_cast<std::uint32_t>(std::min<std::int64_t>(limit * ((mtu + kLinkHeader) / kSmallest + 1), kMaxQueue));
}

ImpairmentPlan make_plan(const Impairment& impairment, std::string engine, const Sides& sides, const Lateness& lateness,
                         const Seed& seed) {
  const auto correct = [](Nanoseconds asked, Nanoseconds late) {
    return asked.count() == 0 ? asked : std::max(asked - late, Nanoseconds{0});
  };
  ImpairmentPlan plan{.engine = std::move(engine), .asked = impairment, .egresses = {}, .sides = sides, .seed = seed};
  plan.programmed_forward = correct(impairment.forward.delay, lateness.forward);
  plan.programmed_back = correct(impairment.back.delay, lateness.back);

  const auto round_trip = impairment.forward.longest() + impairment.back.longest();
  for (const auto way : {Way::forward, Way::back}) {
    const auto& direction = impairment.way(way);
    if (direction.none()) continue;
    const auto late = way == Way::forward ? lateness.forward : lateness.back;
    for (std::size_t i = 0; i < sides.egress(way).size(); ++i) {
      const auto& interface = sides.egress(way)[i];
      Egress egress{.interface = interface.name,
                    .way = way,
                    .direction = direction,
                    .limit = queue_limit(direction, round_trip, interface.mtu),
                    .patience = queue_patience(direction, interface.mtu),
                    .seed = seed_of(seed, way, i)};
      egress.direction.delay = plan.programmed(way);
      for (auto& change : egress.direction.schedule.changes)
        if (change.delay) change.delay = correct(*change.delay, late);
      plan.egresses.push_back(std::move(egress));
    }
  }
  return plan;
}

}  // namespace longhaul::degen
