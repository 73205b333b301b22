// The claims on the caching of registrations, M1 to M4: judged on simulations.
#include <algorithm>

#include "results/claims/judge.hh"
#include "results/claims/registration.hh"

namespace longhaul::results {
namespace {

constexpr const char* kPaper = "Memory Registration Region Cache (2009), ";
constexpr double kNarrow = 0.7;  // of the requests at most two pages: a trace like Cello92

std::string word(const CellSummary& cell, const char* name, const char* fallback) {
  return choice_of(cell.parameters, name, fallback);
}

Judgement judged(bool yes) {
  return yes ? Judgement::yes : Judgement::no;
}

// A simulation gives the same again and again: its figures are exact.
Ratio exactly(double value) {
  return {value, Interval{value, value, 1}};
}

bool mrrc_beside_pin_down(const CellSummary& cell, const CellSummary& other) {
  return word(cell, "policy", "lru") == "mrrc" && word(other, "policy", "lru") == "pin-down" &&
         same_but(cell, other, {"policy"});
}

bool mrrc_beside_none(const CellSummary& cell, const CellSummary& other) {
  return word(cell, "policy", "lru") == "mrrc" && word(other, "policy", "lru") == "none" &&
         (same_but(cell, other, {"policy"}) ||
          // One that caches nothing has one outcome, at no capacity.
          (integer_of(other.parameters, "capacity", 1) == 0 && same_but(cell, other, {"policy", "capacity"})));
}

std::string by_trace(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  const auto trace = spelt("trace");
  return fmt::format("{}, {}", trace.empty() || trace == "generated" ? spelt("sizes") : trace, spelt("cost"));
}

bool narrow(const CellSummary& cell) {
  return value_of(cell, "share_2") >= kNarrow;
}

Finding more_hits(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  double least = 1e9;
  double most = 0;
  for (const auto& match : matches) {
    const auto pin_down = value_of(*match.rival, "hit_ratio");
    const auto ratio = pin_down > 0 ? value_of(*match.cell, "hit_ratio") / pin_down : 1;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    evidence.push_back({place(claim, match), "hits of MRRC / of pin-down", exactly(ratio)});
  }
  const auto reason =
      fmt::format("requests of {}; MRRC has {:.3f} to {:.3f} times pin-down's hits",
                  narrow(*matches.front().cell) ? "mostly one or two pages" : "many sizes", least, most);
  const bool holds = narrow(*matches.front().cell) ? least >= 0.95 && most <= 1.05 : least >= 0.99 && most >= 1.05;
  return conclude(judged(holds), reason, std::move(evidence));
}

Finding cheaper_by_a_tenth(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  double least = 1e9;
  double most = 0;
  for (const auto& match : matches) {
    const auto pin_down = value_of(*match.rival, "cost");
    const auto ratio = pin_down > 0 ? value_of(*match.cell, "cost") / pin_down : 1;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    evidence.push_back({place(claim, match), "cost of MRRC / of pin-down", exactly(ratio)});
  }
  auto reason = fmt::format("MRRC costs {:.3f} to {:.3f} times what pin-down does", least, most);
  return conclude(judged(least >= 0.85 && least < 1 && most <= 1.01), std::move(reason), std::move(evidence));
}

Finding saves_most_of_it(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  double least = 1e9;
  for (const auto& match : matches) {
    const auto none = value_of(*match.rival, "cost");
    const auto ratio = none > 0 ? value_of(*match.cell, "cost") / none : 1;
    least = std::min(least, ratio);
    evidence.push_back({place(claim, match), "cost of MRRC / of no cache", exactly(ratio)});
  }
  auto reason = fmt::format("MRRC saves up to {:.0f} % of the cost of no cache", 100 * (1 - least));
  return conclude(judged(least <= 0.37), std::move(reason), std::move(evidence));
}

Finding sizes_as_found(const Claim&, const std::vector<Match>& matches) {
  const auto& cell = *matches.front().cell;
  Finding finding;
  finding.reason = "the papers' traces cannot be had; of these requests at most";
  for (const auto* pages : {"1", "2", "4", "8", "16", "32"}) {
    const auto share = value_of(cell, (std::string{"share_"} + pages).c_str());
    finding.reason += fmt::format(" {} pages have {:.0f} %,", pages, 100 * share);
    finding.evidence.push_back({std::string{"at most "} + pages + " pages", "share of the requests", exactly(share)});
  }
  finding.reason.pop_back();
  if (word(cell, "trace", "generated") == "generated")
    finding.reason += "; they are made up by the papers' words, which proves nothing";
  return finding;
}

bool any(const Parameters&) {
  return true;
}

}  // namespace

std::vector<Claim> caching_claims() {
  return {
      {.id = "M1",
       .source = std::string{kPaper} + "section 7",
       .statement = "MRRC has about 10 % more hits than pin-down on a web server's trace of many sizes, and about as "
                    "many on a disk's of one or two pages.",
       .criterion = "where sizes are many MRRC has 1.05 times pin-down's hits at some capacity and nowhere less than "
                    "0.99; where they are one or two pages the two stay within 5 %",
       .workload = "simulation",
       .metric = "hit_ratio",
       .x = "capacity",
       .rival = Rival::twin,
       .twin = mrrc_beside_pin_down,
       .group = by_trace,
       .concerns = any,
       .check = more_hits},
      {.id = "M2",
       .source = std::string{kPaper} + "section 7",
       .statement = "MRRC's total cost is at most about 10 % below pin-down's.",
       .criterion = "at every capacity it lies between 0.85 and 1.01 of pin-down's, and somewhere below 1",
       .workload = "simulation",
       .metric = "cost",
       .x = "capacity",
       .rival = Rival::twin,
       .twin = mrrc_beside_pin_down,
       .group = by_trace,
       .concerns = any,
       .check = cheaper_by_a_tenth},
      {.id = "M3",
       .source = std::string{kPaper} + "section 7",
       .statement = "MRRC's total cost is up to 70 % below that of no cache.",
       .criterion = "at some capacity it saves at least 63 %",
       .workload = "simulation",
       .metric = "cost_saved",
       .x = "capacity",
       .rival = Rival::twin,
       .twin = mrrc_beside_none,
       .group = by_trace,
       .concerns = any,
       .check = saves_most_of_it},
      {.id = "M4",
       .source = std::string{kPaper} + "section 7, figure 9",
       .statement = "The web server's requests spread over 1 to 32 pages; of the disk's 80 % are of two.",
       .criterion = "(the traces would have to be the papers')",
       .workload = "simulation",
       .metric = "hit_ratio",
       .x = "capacity",
       .rival = Rival::twin,
       .twin = mrrc_beside_pin_down,
       .group = by_trace,
       .concerns = any,
       .check = sizes_as_found},
  };
}

}  // namespace longhaul::results
