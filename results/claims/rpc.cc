#include "results/claims/rpc.hh"

#include <algorithm>

#include "results/claims/judge.hh"

namespace longhaul::results {
namespace {

constexpr const char* kPaper = "Designing NFS with RDMA (2007), ";
constexpr double kNoDifference = 1.05;
constexpr double kProportional = 1.1;
constexpr std::int64_t kSmall = 8192;  // of more rxe has less under way than ord allows: 128 packets

std::string by_path(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  return fmt::format("{}, {}, {}", cell.provider, spelt("delay"), spelt("size"));
}

// What does not fit into a message: the designs are the same for what does.
bool moves_by_chunks(const Parameters& parameters, const char* procedure) {
  return is(parameters, "transport", "rdma") && is(parameters, "procedure", procedure) &&
         integer_of(parameters, "size") > integer_of(parameters, "inline");
}

bool long_read(const Parameters& parameters) {
  return moves_by_chunks(parameters, "read");
}

bool long_write(const Parameters& parameters) {
  return moves_by_chunks(parameters, "write");
}

bool designs(const Match& match) {
  return match.rival->workload == match.cell->workload && is(*match.parameters, "design", "read-write") &&
         is(*match.rival_parameters, "design", "read-read") && same_but(*match.cell, *match.rival, {"design"});
}

struct Ratios {
  std::vector<Measured> all;
  std::vector<Evidence> evidence;
};

Ratios design_ratios(const Claim& claim, const std::vector<Match>& matches) {
  Ratios ratios;
  for (const auto& match : matches) {
    ratios.all.push_back(compared(*match.cell, *match.rival, claim.metric, matches.size()));
    ratios.evidence.push_back({place(claim, match), "Read-Write / Read-Read", ratios.all.back().ratio});
  }
  return ratios;
}

std::string said(const std::vector<Evidence>& evidence) {
  std::string text;
  for (const auto& one : evidence)
    text += fmt::format("{}{:.3g} at {}", text.empty() ? "" : ", ", one.ratio.value, one.at);
  return text;
}

// N2: ahead with every number of threads, and by less the more there are.
Finding lead_shrinks_with_threads(const Claim& claim, const std::vector<Match>& matches) {
  auto ratios = design_ratios(claim, matches);
  auto reason = "Read-Write / Read-Read is " + said(ratios.evidence);
  if (matches.size() < 2) return undecided(reason + ": one number of threads is no course", std::move(ratios.evidence));
  std::vector<Judgement> judgements{smaller(ratios.all.back(), ratios.all.front())};
  for (const auto& ratio : ratios.all) judgements.push_back(above(ratio, 1));
  return conclude(all_of(judgements), std::move(reason), std::move(ratios.evidence));
}

// N3: the same with every number of threads.
Finding no_difference(const Claim& claim, const std::vector<Match>& matches) {
  auto ratios = design_ratios(claim, matches);
  std::vector<Judgement> judgements;
  for (const auto& ratio : ratios.all) judgements.push_back(equal_within(ratio, kNoDifference));
  auto reason = "Read-Write / Read-Read is " + said(ratios.evidence);
  return conclude(all_of(judgements), std::move(reason), std::move(ratios.evidence));
}

// One RDMA read a call, so that what bounds them is what bounds calls.
bool one_read_a_call(const Parameters& parameters) {
  return long_write(parameters) && integer_of(parameters, "delay") > 0 &&
         integer_of(parameters, "size") <= std::min(kSmall, integer_of(parameters, "segment"));
}

bool bounded_by_ord(const Parameters& parameters) {
  return one_read_a_call(parameters) && (is(parameters, "serving", "asynchronous") ||
                                         integer_of(parameters, "server_threads") >= integer_of(parameters, "threads"));
}

bool bounded_by_server_threads(const Parameters& parameters) {
  return one_read_a_call(parameters) && is(parameters, "serving", "blocking") &&
         integer_of(parameters, "ord") >= integer_of(parameters, "server_threads");
}

// N11: twice as much may be under way, twice as much gets through, as long as the client has calls for it: a call
// spends half of its trips at its read.
Finding proportional(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Judgement> judgements;
  std::vector<Evidence> evidence;
  const auto& first = matches.front();
  for (const auto& match : matches) {
    const bool bounded_here = 2 * match.x < integer_of(*match.parameters, "threads");
    if (match.cell == first.cell || !bounded_here) continue;
    const auto times = static_cast<double>(match.x) / static_cast<double>(first.x);
    const auto ratio = compared(*match.cell, *first.cell, claim.metric, matches.size());
    evidence.push_back({place(claim, match), fmt::format("throughput / that at {}", first.x), ratio.ratio});
    judgements.push_back(equal_within(ratio.over(times), kProportional));
  }
  if (judgements.empty())
    return undecided(fmt::format("two values of {} below half of the client's threads are wanted", claim.x), {});
  auto reason = fmt::format("against {}, throughput is {}", place(claim, first), said(evidence));
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

}  // namespace

std::vector<Claim> rpc_claims() {
  return {
      {.id = "N2",
       .source = std::string{kPaper} + "section 5.1, figure 7",
       .statement = "READ: Read-Write has more throughput than Read-Read, by less the more threads there are.",
       .criterion =
           "at each delay Read-Write is ahead with every number of threads, and the ratio with the most threads "
           "is smaller than with the fewest",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .rival = Rival::twin,
       .twin = designs,
       .group = by_path,
       .concerns = long_read,
       .check = lead_shrinks_with_threads},
      {.id = "N3",
       .source = std::string{kPaper} + "section 5.1, figure 8",
       .statement = "WRITE: the two designs have the same throughput.",
       .criterion = "at each delay the interval of the ratio lies within 5 % of 1 with every number of threads",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .rival = Rival::twin,
       .twin = designs,
       .group = by_path,
       .concerns = long_write,
       .check = no_difference},
      {.id = "N11",
       .source = std::string{kPaper} + "section 4.1",
       .statement = "The RDMA reads that may be under way (IRD, ORD) bound the throughput of WRITE.",
       .criterion = "throughput grows as ord does, within 10 %, as long as ord is below half of the client's threads",
       .workload = "rpc",
       .metric = "throughput",
       .x = "ord",
       .rival = Rival::none,
       .group = by_path,
       .concerns = bounded_by_ord,
       .check = proportional},
      {.id = "N11s",
       .source = std::string{kPaper} + "section 4.1",
       .statement = "A server thread waits for its RDMA reads, so server threads bound the throughput of WRITE.",
       .criterion =
           "throughput grows as the number of server threads does, within 10 %, as long as that is below half of "
           "the client's threads",
       .workload = "rpc",
       .metric = "throughput",
       .x = "server_threads",
       .rival = Rival::none,
       .group = by_path,
       .concerns = bounded_by_server_threads,
       .check = proportional},
  };
}

}  // namespace longhaul::results
