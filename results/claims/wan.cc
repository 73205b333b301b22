#include "results/claims/wan.hh"

#include <algorithm>
#include <limits>

#include "model/units.hh"
#include "results/claims/emulation.hh"
#include "results/claims/judge.hh"

namespace longhaul::results {
namespace {

constexpr const char* kWanPaper = "RDMA over IP in a WAN (2005), ";
constexpr double kAboutEqual = 1.2;  // "almost the same"
constexpr double kFlat = 1.2;        // "without any impact"
constexpr double kReached = 0.9;     // of an overlap ratio of 1
constexpr const char* kProcessor = "what an adapter takes off the processor is a claim about the adapter";
constexpr std::int64_t kMillisecond = 1'000'000;

bool rdma_by(const Parameters& parameters, const char* op) {
  return !is(parameters, "transport", "rdma") || is(parameters, "op", op);
}

bool on_wan(const Parameters& parameters) {
  return is(parameters, "path", "wan");
}

bool no_delay(const Parameters& parameters) {
  return integer_of(parameters, "delay") == 0 && integer_of(parameters, "delay_back") == 0;
}

// A protocol with addresses and the eager one, all else equal.
bool has_eager_twin(const Match& match) {
  return match.rival->workload == match.cell->workload && !is(*match.parameters, "protocol", "eager") &&
         is(*match.rival_parameters, "protocol", "eager") && same_but(*match.cell, *match.rival, {"protocol"});
}

std::string by_protocol(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  return fmt::format("{} {}, {}", is_baseline(cell.transport) ? "sockets beside " + cell.rival : cell.provider,
                     spelt("protocol"), spelt("delay"));
}

// sockets / RDMA where lower is better, RDMA / sockets where higher is: above 1, RDMA is ahead.
Measured advantage(const Match& match, const std::string& name, std::size_t family) {
  const auto* ours = match.cell->metric(name);
  if (ours == nullptr) return {};
  return ours->better == Better::lower ? compared(*match.rival, *match.cell, name, family)
                                       : compared(*match.cell, *match.rival, name, family);
}

struct Series {
  std::vector<Measured> ratios;
  std::vector<Evidence> evidence;
};

Series advantages(const Claim& claim, const std::vector<Match>& matches) {
  Series series;
  for (const auto& match : matches) {
    const auto ratio = advantage(match, claim.metric, matches.size());
    const auto* metric = match.cell->metric(claim.metric);
    const bool lower = metric != nullptr && metric->better == Better::lower;
    series.ratios.push_back(ratio);
    series.evidence.push_back({place(claim, match), lower ? "sockets / RDMA" : "RDMA / sockets", ratio.ratio});
  }
  return series;
}

// W1, W2: equal everywhere.
Finding about_equal(const Claim& claim, const std::vector<Match>& matches) {
  auto series = advantages(claim, matches);
  std::vector<Judgement> judgements;
  const auto off = [](const Evidence& one) {
    return one.ratio.value > 0 ? std::max(one.ratio.value, 1 / one.ratio.value) : 0;
  };
  const Evidence* farthest = &series.evidence.front();
  for (const auto& one : series.ratios) judgements.push_back(equal_within(one, kAboutEqual));
  for (const auto& one : series.evidence)
    if (off(one) > off(*farthest)) farthest = &one;
  const auto reason = fmt::format("farthest from equal of {}: sockets / RDMA is {:.2f} at {}", matches.size(),
                                  farthest->ratio.value, farthest->at);
  return conclude(all_of(judgements), reason, std::move(series.evidence));
}

// The first value of the axis from which on the metric's median is at least `bound`.
std::optional<std::int64_t> reached(const std::vector<Match>& matches, const std::string& metric, bool rdma) {
  for (const auto& match : matches) {
    const auto* measured = (rdma ? match.cell : match.rival)->metric(metric);
    if (measured != nullptr && measured->median >= kReached) return match.x;
  }
  return std::nullopt;
}

// W3: better overlap at smaller computations.
Finding overlaps_earlier(const Claim& claim, const std::vector<Match>& matches) {
  auto series = advantages(claim, matches);
  const auto spelt = [&](std::optional<std::int64_t> at) {
    return at ? "at " + format_quantity(Kind::duration, *at) : std::string{"nowhere in the sweep"};
  };
  const auto rdma = reached(matches, claim.metric, true);
  const auto sockets = reached(matches, claim.metric, false);
  auto judgement = leads(series.ratios);
  // A tie is no lead.
  if (judgement == Judgement::yes && (!rdma || (sockets && *rdma >= *sockets))) judgement = Judgement::no;
  return conclude(
      judgement,
      fmt::format("a ratio of {} is reached by RDMA {}, by sockets {}", kReached, spelt(rdma), spelt(sockets)),
      std::move(series.evidence));
}

/// Delays at which a lead is claimed, ns.
struct Delays {
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

// W4, W6: ahead, and by less the longer the delay.
Finding lead_shrinks(const Claim& claim, const std::vector<Match>& matches, const Delays& led) {
  auto series = advantages(claim, matches);
  std::vector<Measured> judged;
  for (std::size_t i = 0; i < matches.size(); ++i)
    if (matches[i].x >= led.least && matches[i].x <= led.most) judged.push_back(series.ratios[i]);
  if (matches.size() < 2) return undecided("one delay is no course", std::move(series.evidence));
  const auto shrinks = smaller(series.ratios.back(), series.ratios.front());
  const auto ahead = leads(judged);
  const auto said = [](Judgement one, const char* yes, const char* no, const char* unsure) {
    return one == Judgement::yes ? yes : one == Judgement::no ? no : unsure;
  };
  const auto reason = fmt::format("{}; from the first to the last delay the ratio {} ({:.3g} to {:.3g})",
                                  said(ahead, "RDMA is ahead", "RDMA is not ahead", "a lead of RDMA is not shown"),
                                  said(shrinks, "falls", "rises", "is not shown to change"),
                                  series.ratios.front().ratio.value, series.ratios.back().ratio.value);
  return conclude(all_of({shrinks, ahead}), reason, std::move(series.evidence));
}

// W5: RDMA read does not feel the load. That sockets do is how the workload is made, and proves nothing.
Finding load_is_not_felt(const Claim& claim, const std::vector<Match>& matches) {
  const auto& idle = matches.front();
  const auto& loaded = matches.back();
  if (idle.x == loaded.x) return undecided("one load is no course", {});
  const auto rdma = compared(*loaded.cell, *idle.cell, claim.metric, 1);
  const auto sockets = compared(*loaded.rival, *idle.rival, claim.metric, 1);
  const auto what = fmt::format("{} against {}", place(claim, loaded), place(claim, idle));
  const auto reason = fmt::format(
      "with {} RDMA read takes {:.2f} times as long as without; that sockets take {:.1f} times as long is so "
      "by construction, since their server answers when its load is done",
      place(claim, loaded), rdma.ratio.value, sockets.ratio.value);
  // That RDMA be faster under load than without is no objection.
  return conclude(below(rdma, kFlat), reason, {{what, "RDMA", rdma.ratio}, {what, "sockets", sockets.ratio}});
}

// W7, W8: the application does not feel RDMA, but sockets.
Finding application_is_not_slowed(const Claim& claim, const std::vector<Match>& matches) {
  auto series = advantages(claim, matches);
  double rdma = 0;
  double sockets = 0;
  std::vector<Judgement> judgements;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto* ours = matches[i].cell->metric(claim.metric);
    const auto* theirs = matches[i].rival->metric(claim.metric);
    if (ours == nullptr || theirs == nullptr) continue;
    rdma = std::max(rdma, ours->median);
    sockets = std::max(sockets, theirs->median);
    judgements.push_back(below(typical(ours->values, matches.size()), kFlat));
    judgements.push_back(above(series.ratios[i], 1));
  }
  return conclude(all_of(judgements),
                  fmt::format("under traffic the application takes up to {:.2f} times as long with RDMA, {:.2f} times "
                              "with sockets",
                              rdma, sockets),
                  std::move(series.evidence));
}

// W9: about half for small messages.
Finding about_half(const Claim& claim, const std::vector<Match>& matches) {
  auto series = advantages(claim, matches);
  std::vector<Judgement> judgements;
  std::string seen;
  for (const auto& ratio : series.ratios) {
    const auto least = above(ratio, 1.5);
    const auto most = below(ratio, 2.5);
    judgements.push_back(all_of({least, most}));
    seen += fmt::format("{}{:.2f}", seen.empty() ? "" : ", ", ratio.ratio.value);
  }
  return conclude(all_of(judgements), "sockets / RDMA is " + seen, std::move(series.evidence));
}

// W10: the copy is cheaper than the trips, until it is not.
Finding eager_is_ahead(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Judgement> ahead;
  std::vector<Evidence> evidence;
  for (const auto& match : matches) {
    const auto ratio = compared(*match.cell, *match.rival, claim.metric, matches.size());
    ahead.push_back(above(ratio, 1));
    evidence.push_back({place(claim, match), "rendezvous / eager", ratio.ratio});
  }
  auto reason = fmt::format("rendezvous takes {:.2f} times as long as eager at {}", evidence.front().ratio.value,
                            evidence.front().at);
  if (evidence.size() > 1)
    reason += fmt::format(", {:.2f} times at {}", evidence.back().ratio.value, evidence.back().at);
  const auto behind = std::find(ahead.begin(), ahead.end(), Judgement::no);
  if (ahead.front() != Judgement::yes) return conclude(ahead.front(), std::move(reason), std::move(evidence));
  if (behind == ahead.end())
    return undecided(
        "the copy costs less than the trips up to the largest size measured, so where it costs more was not "
        "seen; " +
            reason,
        std::move(evidence));
  const auto from = static_cast<std::size_t>(behind - ahead.begin());
  // Once the copy costs more it stays so.
  const bool back = std::find(behind, ahead.end(), Judgement::yes) != ahead.end();
  reason += fmt::format("; it is ahead from {} on", format_quantity(Kind::size, matches[from].x));
  if (back) reason += ", and behind again at a larger size";
  return conclude(back ? Judgement::no : Judgement::yes, std::move(reason), std::move(evidence));
}

}  // namespace

const std::vector<Claim>& wan_claims() {
  static const std::vector<Claim> claims{
      {.id = "W1",
       .source = std::string{kWanPaper} + "section 4.1, figure 3(a)",
       .statement =
           "Without added delay the one-way latency of RDMA write and of sockets is about equal at every size.",
       .criterion = "at every size measured the interval of the ratio lies within a factor of 1.2 of 1",
       .workload = "latency",
       .metric = "latency",
       .x = "size",
       .concerns = [](const Parameters& p) { return on_wan(p) && no_delay(p) && rdma_by(p, "write"); },
       .check = about_equal},
      {.id = "W2",
       .source = std::string{kWanPaper} + "section 4.1, figure 3(b)",
       .statement = "At 1 KiB the two stay equal as the delay grows.",
       .criterion = "at every delay measured the interval of the ratio lies within a factor of 1.2 of 1",
       .workload = "latency",
       .metric = "latency",
       .x = "delay",
       .concerns =
           [](const Parameters& p) {
             return on_wan(p) && !no_delay(p) && integer_of(p, "size") == kKibi && rdma_by(p, "write");
           },
       .check = about_equal},
      {.id = "W3",
       .source = std::string{kWanPaper} + "section 4.2, figure 5(a)",
       .statement = "The overlap ratio comes close to 1 at smaller computation times with RDMA than with sockets.",
       .criterion = "RDMA's ratio is ahead at a computation time and behind at none, and reaches 0.9 at a smaller one",
       .workload = "overlap",
       .metric = "overlap_ratio",
       .x = "compute",
       .concerns =
           [](const Parameters& p) {
             return on_wan(p) && no_delay(p) && rdma_by(p, "write") && !is(p, "progress", "thread");
           },
       .check = overlaps_earlier},
      {.id = "W4",
       .source = std::string{kWanPaper} + "section 4.2, figure 5(b)",
       .statement = "The gap in overlap shrinks as the delay grows, but RDMA leads at delays of a few ms.",
       .criterion =
           "RDMA's ratio is ahead at delays up to 5 ms and behind at none of them, and its lead is smaller at the "
           "longest delay than at the shortest",
       .workload = "overlap",
       .metric = "overlap_ratio",
       .x = "delay",
       .concerns =
           [](const Parameters& p) {
             return on_wan(p) && integer_of(p, "compute") == 242'000 && rdma_by(p, "write") &&
                    !is(p, "progress", "thread");
           },
       .check =
           [](const Claim& claim, const std::vector<Match>& matches) {
             return lead_shrinks(claim, matches, {.least = 1, .most = 5 * kMillisecond});
           }},
      {.id = "W5",
       .source = std::string{kWanPaper} + "section 4.3, figure 6(a)",
       .statement =
           "The time to fetch 1 KiB by RDMA read does not depend on the load of the remote process; with sockets "
           "it grows with it.",
       .criterion = "from no load to the highest RDMA read's time grows by less than a factor of 1.2 (the sockets' "
                    "server answers "
                    "when its load is done: that half is true by construction)",
       .workload = "progress",
       .metric = "fetch",
       .x = "load",
       .concerns = [](const Parameters& p) { return on_wan(p) && no_delay(p) && rdma_by(p, "read"); },
       .check = load_is_not_felt},
      {.id = "W6",
       .source = std::string{kWanPaper} + "section 4.3, figure 6(b)",
       .statement = "The gap in fetching shrinks as the delay grows; RDMA stays ahead.",
       .criterion =
           "RDMA is ahead at a delay and behind at none, and its lead is smaller at the longest delay than at the "
           "shortest",
       .workload = "progress",
       .metric = "fetch",
       .x = "delay",
       .concerns =
           [](const Parameters& p) {
             return on_wan(p) && integer_of(p, "load") == 10 * kMillisecond && rdma_by(p, "read");
           },
       .check = [](const Claim& claim,
                   const std::vector<Match>& matches) { return lead_shrinks(claim, matches, Delays{}); }},
      {.id = "W7",
       .source = std::string{kWanPaper} + "section 4.4, figure 7(a)",
       .statement =
           "An application that computes on a server to which 40 clients send takes much longer with sockets, and no "
           "longer with RDMA, at every message size.",
       .criterion = "at every size the slowdown with RDMA lies below 1.2, and below that with sockets",
       .workload = "cpu_load",
       .metric = "slowdown",
       .x = "size",
       .concerns = [](const Parameters& p) { return on_wan(p) && no_delay(p); },
       .check = application_is_not_slowed,
       .needs_hardware = kProcessor},
      {.id = "W8",
       .source = std::string{kWanPaper} + "section 4.4, figure 7(b)",
       .statement = "The same at any delay: with RDMA the application's run time is constant.",
       .criterion = "at every delay the slowdown with RDMA at 16 KiB lies below 1.2, and below that with sockets",
       .workload = "cpu_load",
       .metric = "slowdown",
       .x = "delay",
       .concerns = [](const Parameters& p) { return on_wan(p) && integer_of(p, "size") == 16 * kKibi; },
       .check = application_is_not_slowed,
       .needs_hardware = kProcessor},
      {.id = "W9",
       .source = std::string{kWanPaper} + "section 4.5, figure 8",
       .statement = "Within a LAN the small-message latency of RDMA is about half of that of sockets.",
       .criterion = "at every size up to 1 KiB the interval of sockets / RDMA lies between 1.5 and 2.5",
       .workload = "latency",
       .metric = "latency",
       .x = "size",
       .concerns =
           [](const Parameters& p) { return !on_wan(p) && integer_of(p, "size") <= kKibi && rdma_by(p, "write"); },
       .check = about_half,
       .needs_hardware = "half the latency is a claim about an adapter's speed"},
      {.id = "W10",
       .source = std::string{kWanPaper} + "section 5, figure 9",
       .statement =
           "On a link with delay the control messages of a rendezvous cost more than the copy that it saves, until "
           "the copy costs more than the trips; over sockets too.",
       .criterion = "rendezvous / eager lies above 1 at the smallest size measured, below 1 at some larger one, and "
                    "above 1 at none "
                    "beyond that",
       .workload = "rendezvous",
       .metric = "transfer",
       .x = "size",
       .rival = Rival::twin,
       .twin = has_eager_twin,
       .group = by_protocol,
       .concerns =
           [](const Parameters& p) {
             return on_wan(p) && !no_delay(p) && is(p, "strategy", "preregistered") && is(p, "reuse", "same");
           },
       .check = eager_is_ahead},
      emulation_claim(),
  };
  return claims;
}

}  // namespace longhaul::results
