#include "results/claims/registration.hh"

#include <algorithm>
#include <array>
#include <set>

#include "model/units.hh"
#include "results/claims/judge.hh"
#include "results/statistics/line.hh"

namespace longhaul::results {
namespace {

constexpr const char* kMrrc = "Memory Registration Region Cache (2009), ";
constexpr const char* kCost = "Memory registration in InfiniBand (2006), ";
constexpr const char* kAdapter = "the time of an adapter and its driver is a claim about hardware";
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kSmall = 32 * kKibi;         // R1
constexpr std::int64_t kLarge = 4 * kKibi * kKibi;  // R1
constexpr std::int64_t kPinned = 256 * kKibi;       // R2: beyond, pinning takes most
constexpr double kPaperKernel = 0.5;

// --- M5 - M8, R: what registering costs -----------------------------------------------------------------------------

bool registers(const Match& match) {
  return match.rival->workload == match.cell->workload;
}

bool by(const Parameters& parameters, const char* method) {
  return is(parameters, "method", method);
}

bool present(const Parameters& parameters) {
  return is(parameters, "pages", "present") && integer_of(parameters, "page_size") == kPage;
}

// The write itself: the latency of an RDMA write of the same size, with nothing on the way.
bool registration_beside_write(const Match& match) {
  const auto& write = *match.rival_parameters;
  return by(*match.parameters, "reg_mr") && present(*match.parameters) && match.rival->workload == "latency" &&
         is(write, "op", "write") && match.rival->transport == match.cell->transport &&
         match.rival->provider == match.cell->provider && integer_of(write, "delay") == 0 && is(write, "path", "lan") &&
         integer_of(*match.parameters, "size") == integer_of(write, "size");
}

Finding dearer_than_the_write(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Measured> ratios;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto* registering = match.cell->metric("register");
    const auto* writing = match.rival->metric("latency");
    ratios.push_back(registering == nullptr || writing == nullptr
                         ? Measured{}
                         : compared(registering->values, writing->values, matches.size()));
    judgements.push_back(above(ratios.back(), 1));
    evidence.push_back({place(claim, match), "registration / RDMA write", ratios.back().ratio});
  }
  if (ratios.size() > 1) judgements.push_back(smaller(ratios.back(), ratios.front()));
  auto reason =
      fmt::format("registration takes {:.2f} times as long as the write at {}, {:.2f} times at {}",
                  evidence.front().ratio.value, evidence.front().at, evidence.back().ratio.value, evidence.back().at);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

bool kernel_beside_user(const Match& match) {
  return registers(match) && by(*match.parameters, "kernel") && by(*match.rival_parameters, "reg_mr") &&
         present(*match.rival_parameters) && same_but(*match.cell, *match.rival, {"method"});
}

bool fast_beside_ordinary(const Match& match) {
  return registers(match) && by(*match.parameters, "kernel_fast") && by(*match.rival_parameters, "kernel") &&
         same_but(*match.cell, *match.rival, {"method"});
}

Finding half_in_the_kernel(const Claim& claim, const std::vector<Match>& matches) {
  const auto family = matches.size() + 2;
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto ratio = compared(*match.cell, *match.rival, claim.metric, family);
    evidence.push_back({place(claim, match), "kernel space / user space", ratio.ratio});
    if (match.x < 32 * kKibi) judgements.push_back(equal_within(ratio.over(kPaperKernel), 1.3));
  }
  const auto kernel = compared(*matches.back().cell, *matches.front().cell, claim.metric, family);
  const auto user = compared(*matches.back().rival, *matches.front().rival, claim.metric, family);
  const auto course = fmt::format("{} against {}", place(claim, matches.back()), place(claim, matches.front()));
  evidence.push_back({course, "kernel space", kernel.ratio});
  evidence.push_back({course, "user space", user.ratio});
  judgements.push_back(below(kernel, 1.3));
  judgements.push_back(above(user, 2));
  auto reason = fmt::format(
      "in the kernel {:.2f} of user space at {}; {}, it grows {:.2f} times there, {:.2f} times "
      "in user space",
      evidence.front().ratio.value, evidence.front().at, course, kernel.ratio.value, user.ratio.value);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

Finding much_faster(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto ratio = compared(*match.rival, *match.cell, claim.metric, matches.size());
    judgements.push_back(above(ratio, 20));
    evidence.push_back({place(claim, match), "ordinary / fast", ratio.ratio});
  }
  auto reason =
      fmt::format("ordinary takes {:.1f} times as long as fast at {}, {:.1f} times at {}", evidence.front().ratio.value,
                  evidence.front().at, evidence.back().ratio.value, evidence.back().at);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

std::optional<LineFit> fit(const std::vector<Match>& matches, bool rival) {
  std::vector<LinePoint> points;
  std::set<std::int64_t> seen;
  for (const auto& match : matches) {
    const auto* metric = (rival ? match.rival : match.cell)->metric("register");
    if (metric != nullptr && seen.insert(match.x).second)
      points.push_back({static_cast<double>((match.x + kPage - 1) / kPage), metric->values});
  }
  return fit_line(points);
}

Finding intercept_is_tenfold(const Claim&, const std::vector<Match>& matches) {
  const auto fast = fit(matches, false);
  const auto ordinary = fit(matches, true);
  if (!fast || !ordinary) return conclude(Judgement::unsure, "too few sizes for a line", {});
  const auto ratio = compared(ordinary->intercepts, fast->intercepts, 1);
  return conclude(
      all_of({above(ratio, 5), below(ratio, 20)}),
      fmt::format("a call costs {:.1f} us from user space, {:.1f} us fast in the kernel, a page {:.2f} us "
                  "and {:.2f} us",
                  ordinary->intercept / 1000, fast->intercept / 1000, ordinary->slope / 1000, fast->slope / 1000),
      {{"all sizes", "ordinary / fast, a call", ratio.ratio}});
}

bool fast_beside_user(const Match& match) {
  return registers(match) && by(*match.parameters, "kernel_fast") && by(*match.rival_parameters, "reg_mr") &&
         present(*match.rival_parameters) && same_but(*match.cell, *match.rival, {"method"});
}

// --- M9: in the path of small messages ------------------------------------------------------------------------------

// By the same protocol, so that both make the same trips: what is left is registering against copying.
bool each_time_beside_sockets(const Match& match) {
  return match.rival->workload == match.cell->workload && match.cell->transport != match.rival->transport &&
         is_baseline(match.rival->transport) && match.rival->rival == match.cell->provider &&
         is(*match.parameters, "strategy", "each-time") && !is(*match.parameters, "protocol", "eager") &&
         same_but(*match.cell, *match.rival, {"transport", "provider", "rival", "strategy", "capacity", "pipelining"});
}

std::string by_protocol_and_delay(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  return fmt::format("{} {}, {}", cell.provider, spelt("protocol"), spelt("delay"));
}

Finding no_better_than_sockets(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto ratio = compared(*match.rival, *match.cell, claim.metric, matches.size());
    judgements.push_back(below(ratio, 1.05));
    evidence.push_back({place(claim, match), "sockets / RDMA with registration", ratio.ratio});
  }
  auto reason = fmt::format("with the same trips sockets take {:.2f} times as long as RDMA with registration at {}",
                            evidence.front().ratio.value, evidence.front().at);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

// --- R --------------------------------------------------------------------------------------------------------------

bool each_time_beside_preregistered(const Match& match) {
  return match.rival->workload == match.cell->workload && is(*match.parameters, "strategy", "each-time") &&
         is(*match.rival_parameters, "strategy", "preregistered") &&
         same_but(*match.cell, *match.rival, {"strategy", "capacity"});
}

// At the paper's two sizes, whatever others there are.
Finding bandwidth_is_lost(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::optional<Measured> small, large;
  for (const auto& match : matches) {
    const auto ratio = compared(*match.rival, *match.cell, claim.metric, 2);
    evidence.push_back({place(claim, match), "without / with registration", ratio.ratio});
    if (match.x == kSmall) small = ratio;
    if (match.x == kLarge) large = ratio;
  }
  if (!small || !large)
    return undecided("the paper's sizes, 32KiB and 4MiB, are not both among those measured", std::move(evidence));
  auto reason =
      fmt::format("without registration the bandwidth is {:.2f} times that with it at 32KiB, {:.2f} times at 4MiB",
                  small->ratio.value, large->ratio.value);
  return conclude(all_of({above(*small, 2), below(*large, 2), smaller(*large, *small)}), std::move(reason),
                  std::move(evidence));
}

/// Times of a registration's steps in one cell, ns.
struct Steps {
  double pinning = 0;
  double translating = 0;
  double handing_over = 0;
  double sum() const { return pinning + translating + handing_over; }
};

std::optional<Steps> steps_of(const CellSummary& cell) {
  const Steps steps{value_of(cell, "step_pinning"), value_of(cell, "step_translating"),
                    value_of(cell, "step_handing_over")};
  return steps.sum() > 0 ? std::optional{steps} : std::nullopt;
}

// With pages present handing over takes most; with pages absent pinning does above 256 KiB, handing over below.
Finding steps(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto steps = steps_of(*match.cell);
    if (!steps) continue;
    const bool pinning = is(*match.parameters, "pages", "absent") && match.x > kPinned;
    const auto share = (pinning ? steps->pinning : steps->handing_over) / steps->sum();
    judgements.push_back(share > 0.5 ? Judgement::yes : Judgement::no);
    evidence.push_back(
        {place(claim, match), pinning ? "share of pinning" : "share of handing over", {share, std::nullopt}});
  }
  if (evidence.empty()) return undecided("no registration was traced (only the lab may trace its kernel)", {});
  auto reason =
      fmt::format("{} is {:.0f} % at {}, {} {:.0f} % at {}", evidence.front().what, 100 * evidence.front().ratio.value,
                  evidence.front().at, evidence.back().what, 100 * evidence.back().ratio.value, evidence.back().at);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

bool both_ordinary(const Match& match) {
  return registers(match) && by(*match.parameters, "reg_mr") && by(*match.rival_parameters, "reg_mr");
}

bool absent_beside_present(const Match& match) {
  return both_ordinary(match) && is(*match.parameters, "pages", "absent") &&
         is(*match.rival_parameters, "pages", "present") && same_but(*match.cell, *match.rival, {"pages", "trace"});
}

std::string by_provider_and_page(const CellSummary& cell, const Vocabulary& vocabulary) {
  return fmt::format("{}, pages of {}", cell.provider, vocabulary.spelt(cell.workload, cell.parameters, "page_size"));
}

Finding parts_of_a_page(const Claim&, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  const auto& match = matches.back();
  const auto* fault = match.cell->metric("fault");
  const auto* zero = match.cell->metric("zero");
  const auto* pin = match.rival->metric("pin");
  if (fault == nullptr || zero == nullptr || pin == nullptr)
    return conclude(Judgement::unsure, "faulting, clearing and pinning were not measured (the lab's module does)", {});
  std::vector<double> alone;
  for (std::size_t i = 0; i < std::min(fault->values.size(), zero->values.size()); ++i)
    alone.push_back(std::max(fault->values[i] - zero->values[i], 1.0));
  const auto zeroing = compared(alone, zero->values, 2);
  const auto pinning = compared(alone, pin->values, 2);
  return conclude(all_of({above(zeroing, 2), above(pinning, 1)}),
                  fmt::format("a page takes {:.0f} ns to find, {:.0f} to clear, {:.0f} to pin", median(alone),
                              zero->median, pin->median),
                  {{"an absent page", "finding / clearing", zeroing.ratio},
                   {"an absent page", "finding / pinning", pinning.ratio}});
}

bool huge_beside_small(const Match& match) {
  return both_ordinary(match) && is(*match.parameters, "pages", "absent") &&
         integer_of(*match.parameters, "page_size") > kPage &&
         integer_of(*match.rival_parameters, "page_size") == kPage &&
         same_but(*match.cell, *match.rival, {"page_size", "trace"});
}

Finding saves_a_fifth(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto ratio = compared(*match.cell, *match.rival, claim.metric, matches.size());
    judgements.push_back(above(ratio, 0.75));
    judgements.push_back(below(ratio, 0.85));
    evidence.push_back({place(claim, match), "pages of 2 MiB / of 4 KiB", ratio.ratio});
  }
  auto reason =
      fmt::format("with pages of 2 MiB registration takes {:.3f} of the time at {}, {:.3f} at {}",
                  evidence.front().ratio.value, evidence.front().at, evidence.back().ratio.value, evidence.back().at);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

}  // namespace

std::vector<Claim> registration_claims() {
  return {
      {.id = "M5",
       .source = std::string{kMrrc} + "section 3",
       .statement = "From 1 to 128 KiB registering costs more than the RDMA write itself, most so at small sizes.",
       .criterion = "at every size registration / write lies above 1, and it is smaller at the largest than at the "
                    "smallest",
       .workload = "registration",
       .metric = "register",
       .x = "size",
       .rival = Rival::twin,
       .twin = registration_beside_write,
       .concerns = [](const Parameters& p) { return integer_of(p, "size") <= 128 * kKibi; },
       .check = dearer_than_the_write,
       .needs_hardware = kAdapter},
      {.id = "M6",
       .source = std::string{kMrrc} + "section 4",
       .statement = "In the kernel, memory that is contiguous and pinned is registered in about half of user space's "
                    "time below 32 KiB, and the time does not grow; in user space it grows steeply.",
       .criterion = "below 32 KiB kernel / user lies within a factor of 1.3 of 0.5; over the sizes the kernel's time "
                    "grows less than 1.3 times, user space's more than twice",
       .workload = "registration",
       .metric = "register",
       .x = "size",
       .rival = Rival::twin,
       .twin = kernel_beside_user,
       .check = half_in_the_kernel,
       .needs_hardware = kAdapter},
      {.id = "M7",
       .source = std::string{kMrrc} + "section 4, table 1",
       .statement = "Fast registration takes 1/79 of the ordinary one's time at 4 KiB, 1/39 at 128 KiB.",
       .criterion = "ordinary / fast lies above 20 at every size up to 128 KiB",
       .workload = "registration",
       .metric = "register",
       .x = "size",
       .rival = Rival::twin,
       .twin = fast_beside_ordinary,
       .concerns = [](const Parameters& p) { return integer_of(p, "size") <= 128 * kKibi; },
       .check = much_faster,
       .needs_hardware = kAdapter},
      {.id = "M8",
       .source = std::string{kMrrc} + "section 4; the 2006 paper's table 1",
       .statement = "A call of ordinary registration costs about ten times one of fast registration.",
       .criterion = "the ratio of the fitted costs a call lies between 5 and 20",
       .workload = "registration",
       .metric = "register",
       .x = "size",
       .rival = Rival::twin,
       .twin = fast_beside_user,
       .check = intercept_is_tenfold,
       .needs_hardware = kAdapter},
      {.id = "M9",
       .source = std::string{kMrrc} + "section 3",
       .statement =
           "For messages below 1 KiB RDMA with registration in the path is no better than send and receive over "
           "sockets.",
       .criterion = "at every size up to 1 KiB sockets / RDMA with registration lies below 1.05, both by the same "
                    "protocol: its trips are no registration",
       .workload = "rendezvous",
       .metric = "transfer",
       .x = "size",
       .rival = Rival::twin,
       .twin = each_time_beside_sockets,
       .group = by_protocol_and_delay,
       .concerns = [](const Parameters& p) { return integer_of(p, "size") <= kKibi; },
       .check = no_better_than_sockets},
      {.id = "R1",
       .source = std::string{kCost} + "section 3, figure 2",
       .statement = "Without registration the bandwidth is 3.22 times that with it at 32 KiB, 1.31 times at 4 MiB.",
       .criterion = "the factor lies above 2 at 32 KiB, below 2 at 4 MiB, and falls",
       .workload = "throughput",
       .metric = "throughput",
       .x = "size",
       .rival = Rival::twin,
       .twin = each_time_beside_preregistered,
       .check = bandwidth_is_lost,
       .needs_hardware = kAdapter},
      {.id = "R2",
       .source = std::string{kCost} + "section 4",
       .statement = "With pages present, handing the addresses to the adapter takes most of a registration; with pages "
                    "absent pinning does above 256 KiB.",
       .criterion =
           "of what a trace of the kernel tells of the three steps, that step takes more than half at every size",
       .workload = "registration",
       .metric = "step_pinning",
       .x = "size",
       .rival = Rival::none,
       .group =
           [](const CellSummary& cell, const Vocabulary& vocabulary) {
             return fmt::format("{}, pages {}", cell.provider,
                                vocabulary.spelt(cell.workload, cell.parameters, "pages"));
           },
       .concerns = [](const Parameters& p) { return is(p, "method", "reg_mr") && integer_of(p, "page_size") == 4096; },
       .check = steps,
       .needs_hardware = "a software provider has no adapter to hand addresses to"},
      {.id = "R3",
       .source = std::string{kCost} + "section 4, table 2",
       .statement = "Of an absent page, finding a frame takes 3500 cycles, clearing it 1000, pinning it 1800.",
       .criterion = "finding takes more than twice as long as clearing, and longer than pinning",
       .workload = "registration",
       .metric = "fault",
       .x = "size",
       .rival = Rival::twin,
       .twin = absent_beside_present,
       .group = by_provider_and_page,
       .concerns = [](const Parameters& p) { return integer_of(p, "page_size") == 4096; },
       .check = parts_of_a_page,
       .needs_hardware = "cycles are a claim about a processor"},
      {.id = "R4",
       .source = std::string{kCost} + "section 5",
       .statement = "Pages of 2 MiB cut the time of registration by 15 to 25 %.",
       .criterion = "at every size the interval of the ratio lies between 0.75 and 0.85 (pages absent)",
       .workload = "registration",
       .metric = "register",
       .x = "size",
       .rival = Rival::twin,
       .twin = huge_beside_small,
       .check = saves_a_fifth,
       .needs_hardware = "what pages cost is a claim about a processor and its memory"},
  };
}

}  // namespace longhaul::results
