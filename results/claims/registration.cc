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
constexpr std::int64_t kKibi = 1024;
constexpr double kPaperKernel = 0.5;

std::string word(const CellSummary& cell, const char* name, const char* fallback) {
  return choice_of(cell.parameters, name, fallback);
}

Ratio ratio_of(const CellSummary& a, const CellSummary& b, const std::string& metric) {
  const auto* first = a.metric(metric);
  const auto* second = b.metric(metric);
  if (first == nullptr || second == nullptr) return {};
  return ratio_interval(first->values, second->values).value_or(Ratio{});
}

// --- M5 - M8, R: what registering costs -----------------------------------------------------------------------------

bool registers_by(const CellSummary& cell, const char* method) {
  return cell.workload == "registration" && word(cell, "method", "reg_mr") == method;
}

bool present(const CellSummary& cell) {
  return word(cell, "pages", "present") == "present" && integer_of(cell.parameters, "page_size", 4096) == 4096;
}

// The write itself: the latency of an RDMA write of the same size, with nothing on the way.
bool registration_beside_write(const CellSummary& cell, const CellSummary& other) {
  return registers_by(cell, "reg_mr") && present(cell) && other.workload == "latency" &&
         word(other, "op", "write") == "write" && other.transport == "rdma" && other.provider == cell.provider &&
         integer_of(other.parameters, "delay") == 0 && word(other, "path", "wan") == "lan" &&
         integer_of(cell.parameters, "size", 65536) == integer_of(other.parameters, "size", 64);
}

Finding dearer_than_the_write(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto* registering = match.cell->metric("register");
    const auto* writing = match.rival->metric("latency");
    const auto ratio = registering == nullptr || writing == nullptr
                           ? Ratio{}
                           : ratio_interval(registering->values, writing->values).value_or(Ratio{});
    judgements.push_back(above(ratio, 1));
    evidence.push_back({place(claim, match), "registration / RDMA write", ratio});
  }
  if (evidence.size() > 1) judgements.push_back(smaller(evidence.back().ratio, evidence.front().ratio));
  auto reason =
      fmt::format("registration takes {:.2f} times as long as the write at {}, {:.2f} times at {}",
                  evidence.front().ratio.value, evidence.front().at, evidence.back().ratio.value, evidence.back().at);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

bool kernel_beside_user(const CellSummary& cell, const CellSummary& other) {
  return registers_by(cell, "kernel") && registers_by(other, "reg_mr") && present(other) &&
         same_but(cell, other, {"method"});
}

bool fast_beside_ordinary(const CellSummary& cell, const CellSummary& other) {
  return registers_by(cell, "kernel_fast") && registers_by(other, "kernel") && same_but(cell, other, {"method"});
}

Finding half_in_the_kernel(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto ratio = ratio_of(*match.cell, *match.rival, "register");
    evidence.push_back({place(claim, match), "kernel space / user space", ratio});
    if (match.x < 32 * kKibi)
      judgements.push_back(equal_within(
          {ratio.value / kPaperKernel,
           ratio.interval ? std::optional{Interval{ratio.interval->low / kPaperKernel,
                                                   ratio.interval->high / kPaperKernel, ratio.interval->level}}
                          : std::nullopt},
          1.3));
  }
  const auto kernel = ratio_of(*matches.back().cell, *matches.front().cell, "register");
  const auto user = ratio_of(*matches.back().rival, *matches.front().rival, "register");
  const auto course = fmt::format("{} against {}", place(claim, matches.back()), place(claim, matches.front()));
  evidence.push_back({course, "kernel space", kernel});
  evidence.push_back({course, "user space", user});
  judgements.push_back(below(kernel, 1.3));
  judgements.push_back(above(user, 2));
  auto reason = fmt::format(
      "in the kernel {:.2f} of user space at {}; {}, it grows {:.2f} times there, {:.2f} times "
      "in user space",
      evidence.front().ratio.value, evidence.front().at, course, kernel.value, user.value);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

Finding much_faster(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto ratio = ratio_of(*match.rival, *match.cell, "register");
    judgements.push_back(above(ratio, 20));
    evidence.push_back({place(claim, match), "ordinary / fast", ratio});
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
      points.push_back({static_cast<double>((match.x + 4095) / 4096), metric->values});
  }
  return fit_line(points);
}

Finding intercept_is_tenfold(const Claim&, const std::vector<Match>& matches) {
  const auto fast = fit(matches, false);
  const auto ordinary = fit(matches, true);
  if (!fast || !ordinary) return conclude(Judgement::unsure, "too few sizes for a line", {});
  const auto ratio = ratio_interval(ordinary->intercepts, fast->intercepts).value_or(Ratio{});
  return conclude(
      all_of({above(ratio, 5), below(ratio, 20)}),
      fmt::format("a call costs {:.1f} us from user space, {:.1f} us fast in the kernel, a page {:.2f} us "
                  "and {:.2f} us",
                  ordinary->intercept / 1000, fast->intercept / 1000, ordinary->slope / 1000, fast->slope / 1000),
      {{"all sizes", "ordinary / fast, a call", ratio}});
}

bool fast_beside_user(const CellSummary& cell, const CellSummary& other) {
  return registers_by(cell, "kernel_fast") && registers_by(other, "reg_mr") && present(other) &&
         same_but(cell, other, {"method"});
}

// --- M9: in the path of small messages ------------------------------------------------------------------------------

bool each_time_beside_sockets(const CellSummary& cell, const CellSummary& other) {
  return cell.workload == "rendezvous" && cell.transport == "rdma" && word(cell, "strategy", "") == "each-time" &&
         other.transport == "tcp" && other.rival == cell.provider && !other.parameters.contains("protocol") &&
         same_but(cell, other, {"transport", "provider", "rival", "protocol", "strategy", "capacity", "pipelining"});
}

std::string by_protocol_and_delay(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  return fmt::format("{} {}, {}", cell.provider, spelt("protocol"), spelt("delay"));
}

Finding no_better_than_sockets(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto ratio = ratio_of(*match.rival, *match.cell, "transfer");
    judgements.push_back(below(ratio, 1.05));
    evidence.push_back({place(claim, match), "sockets / RDMA with registration", ratio});
  }
  auto reason = fmt::format("sockets take {:.2f} times as long as RDMA with registration at {}",
                            evidence.front().ratio.value, evidence.front().at);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

// --- R --------------------------------------------------------------------------------------------------------------

bool each_time_beside_preregistered(const CellSummary& cell, const CellSummary& other) {
  return cell.workload == "throughput" && word(cell, "strategy", "") == "each-time" &&
         !other.parameters.contains("strategy") && same_but(cell, other, {"strategy"});
}

Finding bandwidth_is_lost(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  for (const auto& match : matches)
    evidence.push_back(
        {place(claim, match), "without / with registration", ratio_of(*match.rival, *match.cell, "throughput")});
  const auto& first = evidence.front().ratio;
  const auto& last = evidence.back().ratio;
  auto reason = fmt::format("without registration the bandwidth is {:.2f} times that with it at {}, {:.2f} times at {}",
                            first.value, evidence.front().at, last.value, evidence.back().at);
  return conclude(all_of({above(first, 2), below(last, 2), smaller(last, first)}), std::move(reason),
                  std::move(evidence));
}

Finding steps(const Claim& claim, const std::vector<Match>& matches) {
  Finding finding;
  for (const auto& match : matches) {
    const auto& cell = *match.cell;
    const auto pinning = value_of(cell, "step_pinning");
    const auto listing = value_of(cell, "step_translating");
    const auto driver = value_of(cell, "step_handing_over");
    if (pinning + listing + driver == 0) continue;
    finding.evidence.push_back(
        {place(claim, match), "share of pinning", {pinning / (pinning + listing + driver), std::nullopt}});
  }
  if (finding.evidence.empty()) {
    finding.reason = "no registration was traced (only the lab may trace its kernel)";
    return finding;
  }
  finding.reason = fmt::format("pinning takes {:.0f} % of the kernel's time at {}, {:.0f} % at {}",
                               100 * finding.evidence.front().ratio.value, finding.evidence.front().at,
                               100 * finding.evidence.back().ratio.value, finding.evidence.back().at);
  return finding;
}

bool absent_beside_present(const CellSummary& cell, const CellSummary& other) {
  return registers_by(cell, "reg_mr") && registers_by(other, "reg_mr") && word(cell, "pages", "") == "absent" &&
         word(other, "pages", "present") == "present" && same_but(cell, other, {"pages", "trace"});
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
  const auto zeroing = ratio_interval(alone, zero->values).value_or(Ratio{});
  const auto pinning = ratio_interval(alone, pin->values).value_or(Ratio{});
  return conclude(
      all_of({above(zeroing, 2), above(pinning, 1)}),
      fmt::format("a page takes {:.0f} ns to find, {:.0f} to clear, {:.0f} to pin", median(alone), zero->median,
                  pin->median),
      {{"an absent page", "finding / clearing", zeroing}, {"an absent page", "finding / pinning", pinning}});
}

bool huge_beside_small(const CellSummary& cell, const CellSummary& other) {
  return registers_by(cell, "reg_mr") && registers_by(other, "reg_mr") && word(cell, "pages", "present") == "absent" &&
         integer_of(cell.parameters, "page_size", 4096) > 4096 &&
         integer_of(other.parameters, "page_size", 4096) == 4096 && same_but(cell, other, {"page_size", "trace"});
}

Finding saves_a_fifth(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  for (const auto& match : matches) {
    const auto ratio = ratio_of(*match.cell, *match.rival, "register");
    judgements.push_back(above(ratio, 0.75));
    judgements.push_back(below(ratio, 0.85));
    evidence.push_back({place(claim, match), "pages of 2 MiB / of 4 KiB", ratio});
  }
  auto reason =
      fmt::format("with pages of 2 MiB registration takes {:.3f} of the time at {}, {:.3f} at {}",
                  evidence.front().ratio.value, evidence.front().at, evidence.back().ratio.value, evidence.back().at);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

bool any(const Parameters&) {
  return true;
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
       .concerns = any,
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
       .concerns = any,
       .check = intercept_is_tenfold,
       .needs_hardware = kAdapter},
      {.id = "M9",
       .source = std::string{kMrrc} + "section 3",
       .statement =
           "For messages below 1 KiB RDMA with registration in the path is no better than send and receive over "
           "sockets.",
       .criterion = "at every size up to 1 KiB sockets / RDMA with registration lies below 1.05",
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
       .criterion = "the factor lies above 2 at the smallest size, below 2 at the largest, and falls",
       .workload = "throughput",
       .metric = "throughput",
       .x = "size",
       .rival = Rival::twin,
       .twin = each_time_beside_preregistered,
       .concerns = any,
       .check = bandwidth_is_lost,
       .needs_hardware = kAdapter},
      {.id = "R2",
       .source = std::string{kCost} + "section 4",
       .statement = "With pages present, handing the addresses to the adapter takes most of a registration; with pages "
                    "absent pinning does above 256 KiB.",
       .criterion = "(there would have to be an adapter that is handed something)",
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
       .concerns = any,
       .check = saves_a_fifth,
       .needs_hardware = "what pages cost is a claim about a processor and its memory"},
  };
}

}  // namespace longhaul::results
