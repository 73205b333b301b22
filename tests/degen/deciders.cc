#include "tests/degen/deciders.hh"

#include <algorithm>

#include "degen/engines/nfqueue/plan.hh"
#include "degen/engines/nfqueue/scheduler.hh"
#include "tests/degen/edt_kernel.hh"

namespace longhaul::degen::test {
namespace {

constexpr Nanoseconds kStart = std::chrono::seconds{1};

ImpairmentPlan plan_of(const Direction& direction, const std::string& engine, std::uint32_t seed) {
  const Sides sides{.client = {{"ra0"}}, .server = {{"rb0"}}};
  return plan_for({.forward = direction, .back = {}}, engine, sides, {}, {.value = seed, .asked = true}).value();
}

std::vector<Outcome> by_edt(const Direction& direction, std::uint32_t seed, const std::vector<Arrival>& packets) {
  const auto link = edt::links_of(plan_of(direction, "edt", seed)).at(0);
  EdtKernel kernel{link, link.seed, kStart};
  std::vector<Outcome> outcomes;
  for (const auto& arrival : packets) {
    const auto time = static_cast<std::uint64_t>((kStart + arrival.time).count());
    using Kind = EdtKernel::Kind;
    const auto decision = kernel.arrive(time, arrival.bytes, arrival.ecn_capable, Kind::packet, arrival.key);
    Outcome outcome{.passed = decision.fate == EDT_PASS, .flip = {}};
    if (outcome.passed) outcome.held = Nanoseconds{static_cast<std::int64_t>(decision.due - time)};
    outcome.marked = outcome.passed && decision.mark != 0;
    if (decision.twice != 0)
      outcome.twice = kernel.arrive(time, arrival.bytes, arrival.ecn_capable, Kind::copy).fate == EDT_PASS;
    outcomes.push_back(outcome);
  }
  return outcomes;
}

std::vector<Outcome> by_nfqueue(const Direction& direction, std::uint32_t seed, const std::vector<Arrival>& packets) {
  const auto queue = nfqueue::queues_of(plan_of(direction, "nfqueue", seed)).at(0);
  Scheduler scheduler{queue.direction, queue.limit, queue.seed, queue.patience, {.begin = kStart, .room = queue.room}};
  std::vector<Outcome> outcomes(packets.size());
  std::vector<bool> waits(packets.size());
  std::uint32_t first = 0;  // none before it waits
  std::vector<Verdict> verdicts;
  const auto leave = [&](std::uint32_t id, bool passed, Nanoseconds now) {
    if (!waits[id]) return;
    waits[id] = false;
    outcomes[id].passed = passed;
    // One that was due before it came left when it came.
    if (passed) outcomes[id].held = std::max(now - (kStart + packets[id].time), Nanoseconds{0});
  };
  const auto obey = [&](Nanoseconds now) {
    for (const auto& verdict : verdicts) {
      if (verdict.kind == VerdictKind::accept_through)
        for (; first <= verdict.id; ++first) leave(first, true, now);
      else
        leave(verdict.id, verdict.kind == VerdictKind::accept, now);
    }
    verdicts.clear();
  };
  const auto until = [&](Nanoseconds end) {
    while (const auto next = scheduler.next()) {
      if (*next > end) return;
      scheduler.release(*next, verdicts);
      obey(*next);
    }
  };
  for (std::uint32_t i = 0; i < packets.size(); ++i) {
    const auto time = kStart + packets[i].time;
    until(time);
    waits[i] = true;
    const auto change = scheduler.arrive({.id = i,
                                          .time = time,
                                          .bytes = packets[i].bytes,
                                          .ecn_capable = packets[i].ecn_capable,
                                          .key = packets[i].key},
                                         verdicts);
    outcomes[i].marked = change.mark;
    outcomes[i].flip = change.flip;
    obey(time);
  }
  until(Nanoseconds::max());
  return outcomes;
}

}  // namespace

const std::vector<Decider>& deciders() {
  static const std::vector<Decider> all{{"edt", by_edt}, {"nfqueue", by_nfqueue}};
  return all;
}

std::vector<Arrival> arrivals(int count, Nanoseconds apart, std::uint32_t bytes, bool ecn_capable) {
  std::vector<Arrival> packets;
  for (int i = 0; i < count; ++i) packets.push_back({.time = i * apart, .bytes = bytes, .ecn_capable = ecn_capable});
  return packets;
}

}  // namespace longhaul::degen::test
