#include "degen/engines/nfqueue/plan.hh"

#include <fmt/ranges.h>

namespace longhaul::degen::nfqueue {
namespace {

std::string quoted(const std::vector<Interface>& interfaces) {
  std::vector<std::string> names;
  names.reserve(interfaces.size());
  for (const auto& interface : interfaces) names.push_back(fmt::format("\"{}\"", interface.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<void> check(const Impairment& impairment) {
  for (const auto way : {Way::forward, Way::back}) {
    const auto& direction = impairment.way(way);
    const auto suffix = suffix_of(way);
    if (direction.duplicate.parts > 0)
      return refuse("duplicate{}: engine nfqueue decides on packets, it cannot make any; use engine edt or netem",
                    suffix);
    for (const auto& fault : direction.faults.list)
      if (fault.kind == Fault::Kind::duplicate)
        return refuse(
            "faults{}: engine nfqueue decides on packets, it cannot make any, so none can leave twice; "
            "use engine edt",
            suffix);
  }
  return {};
}

Footprint footprint(const ImpairmentPlan& plan) {
  return {.interfaces = {}, .table = !plan.empty()};
}

}  // namespace

std::vector<PacketQueue> queues_of(const ImpairmentPlan& plan) {
  std::vector<PacketQueue> queues;
  std::uint16_t number = kFirstQueue;
  for (const auto& egress : plan.egresses)
    queues.push_back(
        {.number = number++,
         .interface = egress.interface,
         .way = egress.way,
         .direction = egress.direction,
         .limit = egress.direction.queue > 0 ? places(egress.limit, plan.mtu(egress)) : egress.limit,
         .patience = egress.patience,
         .room = egress.direction.schedule.changes_rate() ? queue_room(egress.direction, plan.mtu(egress)) : 0,
         .seed = egress.seed});
  return queues;
}

// One table, gone in one transaction, and with the socket that made it (owner, kernel 5.12): whatever ends degen takes
// it away, and nobody else can. `bypass`: without a listener the packets pass unimpaired.
std::string ruleset_of(const ImpairmentPlan& plan) {
  if (plan.empty()) return {};
  std::string text = fmt::format(
      "table inet {} {{\n  flags owner\n  chain forward {{\n    type filter hook forward priority 0; policy accept;\n",
      kOwnTable);
  for (const auto& queue : queues_of(plan))
    text += fmt::format("    iifname {{ {} }} oifname \"{}\" counter queue flags bypass to {}\n",
                        quoted(plan.sides.ingress(queue.way)), queue.interface, queue.number);
  return text + "  }\n}\n";
}

Planner planner() {
  return {.name = "nfqueue", .preference = 3, .check = check, .footprint = footprint};
}

}  // namespace longhaul::degen::nfqueue
