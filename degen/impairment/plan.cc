#include "degen/impairment/plan.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace longhaul::degen {
namespace {

constexpr std::uint32_t kCertain = std::numeric_limits<std::uint32_t>::max();

// With a rate, netem never lets a packet leave before the one in front of it (sch_netem.c, netem_enqueue: the last
// packet's time is the reference). So jitter that keeps the order is asked of it by a rate too high to matter: 30 ns
// for 1500 bytes.
constexpr std::uint64_t kOrderKeepingRate = 50'000'000'000;  // bytes/s

std::int64_t packets(BitRate rate, Nanoseconds time, std::int64_t mtu) {
  return (bytes_in_flight(rate, time).count + mtu - 1) / mtu;
}

NetemQdisc netem_qdisc(const Interface& interface, Way way, const Direction& direction, Nanoseconds programmed,
                       std::uint32_t limit) {
  NetemQdisc qdisc{.interface = interface.name, .way = way, .bursts = {}};
  qdisc.latency = programmed;
  qdisc.jitter = direction.jitter;
  qdisc.distribution = direction.distribution;
  qdisc.limit = limit;
  qdisc.bursts = gilbert(direction);
  if (!qdisc.bursts) qdisc.loss = kernel_probability(direction.loss);
  qdisc.duplicate = kernel_probability(direction.duplicate);
  qdisc.reorder = kernel_probability(direction.reorder);
  qdisc.rate = static_cast<std::uint64_t>(direction.rate.bits_per_second) / 8;
  if (direction.rate.bits_per_second > 0 && qdisc.rate == 0) qdisc.rate = 1;
  if (qdisc.rate == 0 && direction.jitter.count() > 0 && direction.keep_order) qdisc.rate = kOrderKeepingRate;
  return qdisc;
}

std::string quoted(const std::vector<Interface>& interfaces) {
  std::vector<std::string> names;
  names.reserve(interfaces.size());
  for (const auto& interface : interfaces) names.push_back(fmt::format("\"{}\"", interface.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

// One table, gone in one transaction. `bypass`: without a listener the packets pass unimpaired.
std::string nft_ruleset(const std::vector<PacketQueue>& queues, const Sides& sides) {
  std::string text = fmt::format(
      "table inet {} {{\n  chain forward {{\n    type filter hook forward priority 0; policy accept;\n", kOwnTable);
  for (const auto& queue : queues)
    text += fmt::format("    iifname {{ {} }} oifname \"{}\" counter queue flags bypass to {}\n",
                        quoted(sides.ingress(queue.way)), queue.interface, queue.number);
  return text + "  }\n}\n";
}

}  // namespace

std::uint32_t Plan::limit(Way way) const {
  std::uint32_t most = 0;
  for (const auto& qdisc : qdiscs)
    if (qdisc.way == way) most = std::max(most, qdisc.limit);
  for (const auto& queue : queues)
    if (queue.way == way) most = std::max(most, queue.limit);
  return most;
}

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> names{"netem", "nfqueue"};
  return names;
}

Result<void> check_engine(const Impairment& impairment, std::string_view engine) {
  const auto& names = engine_names();
  if (std::find(names.begin(), names.end(), engine) == names.end()) {
    const auto near = nearest(engine, names);
    return refuse("engine: expected one of {}, got '{}'{}", fmt::join(names, ", "), engine,
                  near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  }
  for (const auto way : {Way::forward, Way::back}) {
    const auto suffix = way == Way::forward ? "" : "_back";
    if (engine == "nfqueue" && impairment.way(way).duplicate.parts > 0)
      return refuse("duplicate{}: engine nfqueue decides on packets, it cannot make any; use engine netem", suffix);
  }
  return {};
}

std::optional<Gilbert> gilbert(const Direction& direction) {
  if (direction.loss_burst <= 1 || direction.loss.parts == 0) return {};
  // Stationary loss p / (p + r) with mean burst 1 / r.
  const double loss = static_cast<double>(direction.loss.parts) / 1e6;
  const double leave = 1.0 / static_cast<double>(direction.loss_burst);
  const double enter = loss >= 1 ? 1 : std::min(1.0, leave * loss / (1 - loss));
  const auto scaled = [](double p) {
    return static_cast<std::uint32_t>(std::llround(p * static_cast<double>(kCertain)));
  };
  return Gilbert{.enter = scaled(enter), .leave = scaled(leave)};
}

std::uint32_t kernel_probability(Ppm share) {
  const auto parts = static_cast<std::uint64_t>(share.parts);
  return static_cast<std::uint32_t>((parts * kCertain + 500'000) / 1'000'000);
}

std::uint32_t queue_limit(const Direction& direction, Nanoseconds round_trip, std::int64_t mtu) {
  const bool limited = direction.rate.bits_per_second > 0;
  const auto rate = limited ? direction.rate : kAssumedRate;
  std::int64_t limit = packets(rate, direction.longest(), mtu);
  if (limited) limit += packets(rate, round_trip, mtu);
  limit += kMinQueue;  // a burst must fit on the shortest and slowest of links
  if (direction.duplicate.parts > 0) limit *= 2;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(limit, kMaxQueue));
}

Result<Plan> make_plan(const Impairment& impairment, std::string_view engine, const Sides& sides,
                       const Lateness& lateness) {
  if (const auto ok = check_engine(impairment, engine); !ok) return tl::unexpected(ok.error());
  const auto correct = [](Nanoseconds asked, Nanoseconds late) {
    return asked.count() == 0 ? asked : std::max(asked - late, Nanoseconds{0});
  };
  Plan plan{.engine = std::string{engine}, .asked = impairment, .qdiscs = {}, .queues = {}, .ruleset = {}};
  plan.programmed_forward = correct(impairment.forward.delay, lateness.forward);
  plan.programmed_back = correct(impairment.back.delay, lateness.back);

  const auto round_trip = impairment.forward.longest() + impairment.back.longest();
  std::uint16_t number = kFirstQueue;
  for (const auto way : {Way::forward, Way::back}) {
    const auto& direction = impairment.way(way);
    if (direction.none()) continue;
    for (const auto& interface : sides.egress(way)) {
      const auto limit = queue_limit(direction, round_trip, interface.mtu);
      if (engine == "netem") {
        plan.qdiscs.push_back(netem_qdisc(interface, way, direction, plan.programmed(way), limit));
        continue;
      }
      PacketQueue queue{
          .number = number++, .interface = interface.name, .way = way, .direction = direction, .limit = limit};
      queue.direction.delay = plan.programmed(way);
      plan.queues.push_back(std::move(queue));
    }
  }
  if (!plan.queues.empty()) plan.ruleset = nft_ruleset(plan.queues, sides);
  return plan;
}

}  // namespace longhaul::degen
