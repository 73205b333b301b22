#include "results/claims/frrwp.hh"

#include <algorithm>

#include "results/analyses/transfers/prediction.hh"
#include "results/analyses/transfers/savings.hh"
#include "results/claims/judge.hh"

namespace longhaul::results {
namespace {

constexpr const char* kFrrwpPaper = "Fast RDMA Read and Write Process (2009), ";
constexpr double kMicrosecond = 1000;
constexpr double kClaimedSaving = 15 * kMicrosecond;  // F3
constexpr double kAsPredicted = 1.25;                 // between what should be saved and what is

std::string by_direction_and_delay(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  return fmt::format("{} {}, {}", cell.provider, spelt("direction"), spelt("delay"));
}

bool crw_beside_typical(const Match& match) {
  return protocol_of(*match.cell) == "frrwp+crw" && beside_typical(*match.cell, *match.rival);
}

bool crw_beside_frrwp(const Match& match) {
  return match.rival->workload == match.cell->workload && protocol_of(*match.cell) == "frrwp+crw" &&
         protocol_of(*match.rival) == "frrwp" && same_but(*match.cell, *match.rival, {"protocol"});
}

// Both ends register for every transfer, one buffer of a known size.
bool registers_each_time(const Parameters& parameters) {
  return is(parameters, "strategy", "each-time") && is(parameters, "reuse", "same");
}

bool application_waits(const Parameters& parameters) {
  return registers_each_time(parameters) && integer_of(parameters, "compute") == 0 &&
         is(parameters, "completion", "poll");
}

bool pairs_of_overlapped(const Parameters& parameters) {
  return application_waits(parameters) && is(parameters, "protocol", "frrwp") && integer_of(parameters, "paired") == 1;
}

// The saving is there, and it is the registration's.
Judgement as_predicted(const Saving& saving, const Measured& saved) {
  if (!saving.predicted || !saving.interval) return Judgement::unsure;
  if (!saving.due()) return Judgement::yes;  // too small to be seen; not to be judged by itself
  return equal_within(saved.over(*saving.predicted), kAsPredicted);
}

Finding saves_a_registration(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  std::string reason;
  bool due = false;
  for (const auto& match : matches) {
    const auto saving = saving_of_pairs(*match.cell);
    if (!saving) continue;
    const auto saved = typical(match.cell->metric(claim.metric)->values, matches.size());
    judgements.push_back(as_predicted(*saving, saved));
    due = due || saving->due();
    if (saving->predicted)
      evidence.push_back({place(claim, match), "saved / predicted", saved.over(*saving->predicted).ratio});
    reason += fmt::format(
        "{}at {} it saves {:.0f} us{}", reason.empty() ? "" : "; ", place(claim, match), saving->saved / kMicrosecond,
        saving->predicted
            ? fmt::format(", its registrations and messages say {:.0f}", *saving->predicted / kMicrosecond)
            : "");
  }
  return conclude(due ? all_of(judgements) : Judgement::unsure, std::move(reason), std::move(evidence));
}

std::string by_path_and_application(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  auto name = by_direction_and_delay(cell, vocabulary);
  if (cell.parameters.contains("compute")) name += ", computing " + spelt("compute");
  if (cell.parameters.contains("completion")) name += ", sleeping";
  return name;
}

Finding spares_the_application(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Measured> ratios;
  for (const auto& match : matches) {
    ratios.push_back(compared(*match.rival, *match.cell, claim.metric, matches.size()));
    evidence.push_back({place(claim, match), "frrwp / frrwp+crw critical path", ratios.back().ratio});
  }
  const auto& cell = *matches.front().cell;
  auto reason = fmt::format(
      "without conditional writes the path takes {:.3f} times as long at {}; taking a completion takes {:.1f} us (T1), "
      "waking up {:.1f} (T2), a system call {:.1f} (T3)",
      evidence.front().ratio.value, place(claim, matches.front()), value_of(cell, "completion_entry") / kMicrosecond,
      value_of(cell, "wake_up") / kMicrosecond, value_of(cell, "system_call") / kMicrosecond);
  return conclude(leads(ratios), std::move(reason), std::move(evidence));
}

Finding saves_two_thirds(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  std::vector<Judgement> judgements;
  std::string reason;
  for (const auto& match : matches) {
    auto saving = saving_of_pairs(*match.cell);
    if (!saving) saving = saving_of(*match.cell, *match.rival);
    if (!saving) continue;
    // By pairs the saving is measured; else it follows from the two paths, at 95 %.
    const auto* saved = match.cell->metric("saved");
    const auto measured = saved != nullptr ? typical(saved->values, matches.size())
                                           : Measured{.ratio = {saving->saved, saving->interval}, .joint = {}};
    judgements.push_back(above(measured.over(kClaimedSaving), 1));
    evidence.push_back({place(claim, match), "conditional / typical critical path", saving->ratio});
    reason += fmt::format("{}at {} both together save {:.0f} us, {:.0f} % of the path", reason.empty() ? "" : "; ",
                          place(claim, match), saving->saved / kMicrosecond, 100 * (1 - saving->ratio.value));
  }
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

}  // namespace

std::vector<Claim> frrwp_claims() {
  return {
      {.id = "F1",
       .source = std::string{kFrrwpPaper} + "section 6",
       .statement = "Registering at both ends at the same time saves one registration of the critical path.",
       .criterion =
           "between neighbours in one run (paired): wherever the registration that is saved is larger than half "
           "the interval, the interval of what is saved lies within a factor of 1.25 of that registration",
       .workload = "transfer",
       .metric = "saved",
       .x = "size",
       .rival = Rival::none,
       .group = by_direction_and_delay,
       .concerns = pairs_of_overlapped,
       .check = saves_a_registration},
      {.id = "F2",
       .source = std::string{kFrrwpPaper} + "section 8",
       .statement = "A conditional write saves a completion entry and two context switches, T1 + T2 + T3 = 8 us.",
       .criterion = "the path without it is longer somewhere and nowhere shorter",
       .workload = "transfer",
       .metric = "critical_path",
       .x = "size",
       .rival = Rival::twin,
       .twin = crw_beside_frrwp,
       .group = by_path_and_application,
       .concerns = registers_each_time,
       .check = spares_the_application,
       .needs_hardware =
           "the paper's driver submits the write in its interrupt, our engine is a thread above the driver "
           "with a wake-up of its own"},
      {.id = "F3",
       .source = std::string{kFrrwpPaper} + "section 8",
       .statement = "Both together save at least 15 us, two thirds of the critical path.",
       .criterion = "at every size at least 15 us are saved",
       .workload = "transfer",
       .metric = "critical_path",
       .x = "size",
       .rival = Rival::twin,
       .twin = crw_beside_typical,
       .group = by_direction_and_delay,
       .concerns = application_waits,
       .check = saves_two_thirds,
       .needs_hardware = "so many microseconds are a claim about the paper's adapter and driver"},
  };
}

}  // namespace longhaul::results
