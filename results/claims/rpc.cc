#include "results/claims/rpc.hh"

#include <algorithm>
#include <array>

#include "results/claims/judge.hh"
#include "results/claims/rpc_calls.hh"

namespace longhaul::results {
namespace {

constexpr double kNoDifference = 1.05;
constexpr std::int64_t kOnePage = 4096;

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

std::string by_call(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  return fmt::format("{} {}, {}", cell.provider, spelt("procedure"), spelt("delay"));
}

bool long_call(const Parameters& parameters) {
  return long_read(parameters) || long_write(parameters);
}

/// Values of axes by which a cell and its rival differ.
struct Way {
  const char* axis;
  const char* mine;
  const char* theirs;
};

/// True for a cell whose rival differs in these axes only.
std::function<bool(const Match&)> differing(std::vector<Way> ways) {
  return [ways = std::move(ways)](const Match& match) {
    if (match.rival->workload != match.cell->workload) return false;
    for (const auto& way : ways)
      if (!is(*match.parameters, way.axis, way.mine) || !is(*match.rival_parameters, way.axis, way.theirs))
        return false;
    auto mine = match.cell->parameters;
    auto theirs = match.rival->parameters;
    for (const auto& way : ways) {
      mine.erase(way.axis);
      theirs.erase(way.axis);
    }
    return mine == theirs;
  };
}

// N1: slower at every size.
Finding registration_costs(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Judgement> judgements;
  std::vector<Evidence> evidence;
  for (const auto& match : matches) {
    const auto ratio = compared(*match.cell, *match.rival, claim.metric, matches.size());
    evidence.push_back({place(claim, match), "each-time / preregistered", ratio.ratio});
    judgements.push_back(above(ratio, 1));
  }
  auto reason = "each-time / preregistered is " + said(evidence);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

// Ratios of READ and of WRITE at the same places of an axis.
struct Calls {
  std::vector<Measured> reads, writes;
  std::vector<Evidence> evidence;
};

Calls calls_of(const Claim& claim, const std::vector<Match>& matches, const char* mine, const char* axis) {
  Calls calls;
  for (const auto& match : matches) {
    const bool read = is(*match.parameters, "procedure", "read");
    auto ratio = compared(*match.cell, *match.rival, claim.metric, matches.size());
    calls.evidence.push_back({fmt::format("{} {}", read ? "READ" : "WRITE", place(claim, match)),
                              fmt::format("{} / {}", mine, choice_of(*match.rival_parameters, axis)), ratio.ratio});
    (read ? calls.reads : calls.writes).push_back(std::move(ratio));
  }
  return calls;
}

// N5: the server's cache gains something for either call, and less for WRITE.
Finding cache_gains_more_for_read(const Claim& claim, const std::vector<Match>& matches) {
  auto calls = calls_of(claim, matches, "preregistered", "server_buffers");
  auto reason = "preregistered / each-time is " + said(calls.evidence);
  if (calls.reads.size() != calls.writes.size() || calls.reads.empty())
    return undecided(reason + ": READ and WRITE are wanted at the same sizes", std::move(calls.evidence));
  std::vector<Judgement> judgements;
  for (std::size_t i = 0; i < calls.reads.size(); ++i) {
    judgements.push_back(above(calls.reads[i], 1));
    judgements.push_back(smaller(calls.writes[i], calls.reads[i]));
  }
  return conclude(all_of(judgements), std::move(reason), std::move(calls.evidence));
}

// N5f: between registration each time and none on the way, at every size.
Finding windows_lie_between(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Judgement> judgements;
  std::vector<Evidence> evidence;
  std::size_t each_time = 0;
  for (const auto& match : matches) {
    const bool registered = is(*match.rival_parameters, "strategy", "each-time");
    each_time += registered ? 1 : 0;
    const auto ratio = compared(*match.cell, *match.rival, claim.metric, matches.size());
    evidence.push_back({place(claim, match), registered ? "fast / each-time" : "fast / preregistered", ratio.ratio});
    judgements.push_back(registered ? below(ratio, 1) : above(ratio, 1));
  }
  std::string reason = "a call's time is";
  for (const auto& one : evidence)
    reason +=
        fmt::format("{} {} {:.3g} at {}", &one == &evidence.front() ? "" : ",", one.what, one.ratio.value, one.at);
  if (each_time == 0 || each_time == matches.size())
    return undecided(reason + ": cells with registration each time and with none are both wanted", std::move(evidence));
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

// N6: copying wins the smallest records, registering the largest.
Finding copying_wins_small_records(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Measured> ratios;
  std::vector<Evidence> evidence;
  for (const auto& match : matches) {
    ratios.push_back(compared(*match.cell, *match.rival, claim.metric, matches.size()));
    evidence.push_back({place(claim, match), "copied / registered each time", ratios.back().ratio});
  }
  auto reason = "copied / registered each time is " + said(evidence);
  return conclude(all_of({below(ratios.front(), 1), above(ratios.back(), 1)}), std::move(reason), std::move(evidence));
}

// N7: more operations with the cache, whatever the number of threads.
Finding cache_wins_the_mix(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Judgement> judgements;
  std::vector<Evidence> evidence;
  for (const auto& match : matches) {
    const auto ratio = compared(*match.cell, *match.rival, claim.metric, matches.size());
    evidence.push_back({place(claim, match), "preregistered / each-time", ratio.ratio});
    judgements.push_back(above(ratio, 1));
  }
  auto reason = "preregistered / each-time is " + said(evidence);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

// N8: a key for all memory wins READ; WRITE pays for its many segments.
Finding one_key_wins_read_only(const Claim& claim, const std::vector<Match>& matches) {
  auto calls = calls_of(claim, matches, "one key", "strategy");
  std::string reason = "throughput with one key against registration on the way is";
  for (const auto& one : calls.evidence)
    reason += fmt::format("{} {:.3g} ({}) at {}", &one == &calls.evidence.front() ? "" : ",", one.ratio.value, one.what,
                          one.at);
  if (calls.reads.empty() || calls.writes.empty())
    return undecided(reason + ": READ and WRITE are both wanted", std::move(calls.evidence));
  std::vector<Judgement> judgements;
  for (const auto& read : calls.reads) judgements.push_back(above(read, 1));
  for (const auto& write : calls.writes) judgements.push_back(below(write, 1));
  return conclude(all_of(judgements), std::move(reason), std::move(calls.evidence));
}

// N9: more clients, more throughput, and above that of sockets with the most of them.
Finding clients_add_up(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  const auto& first = matches.front();
  const auto& last = matches.back();
  const auto lead = compared(*last.cell, *last.rival, claim.metric, 2);
  const auto growth = compared(*last.cell, *first.cell, claim.metric, 2);
  evidence.push_back({place(claim, last), "RDMA / sockets", lead.ratio});
  evidence.push_back({place(claim, last), "throughput / that of one client", growth.ratio});
  auto reason = fmt::format("with {} throughput is {:.3g} times that of one client, and {:.3g} times that of sockets",
                            place(claim, last), growth.ratio.value, lead.ratio.value);
  if (first.x != 1) return undecided(reason + ": one client alone is wanted, too", std::move(evidence));
  return conclude(all_of({above(growth, 1), above(lead, 1)}), std::move(reason), std::move(evidence));
}

// N9d: more clients, until their files do not fit into the server's cache.
Finding disks_make_a_knee(const Claim& claim, const std::vector<Match>& matches) {
  std::vector<Evidence> evidence;
  const auto& first = matches.front();
  const auto& last = matches.back();
  const auto median = [&](const Match& match) {
    const auto* metric = match.cell->metric(claim.metric);
    return metric == nullptr ? 0.0 : metric->median;
  };
  const auto& most = *std::max_element(matches.begin(), matches.end(),
                                       [&](const Match& a, const Match& b) { return median(a) < median(b); });
  const auto growth = compared(*most.cell, *first.cell, claim.metric, 2);
  const auto fall = compared(*last.cell, *most.cell, claim.metric, 2);
  evidence.push_back({place(claim, most), "throughput / that of one client", growth.ratio});
  evidence.push_back({place(claim, last), "throughput / the most", fall.ratio});
  auto reason = fmt::format("with {} throughput is {:.3g} times that of one client; with {} it is {:.3g} times that",
                            place(claim, most), growth.ratio.value, place(claim, last), fall.ratio.value);
  if (first.x != 1) return undecided(reason + ": one client alone is wanted, too", std::move(evidence));
  if (&most == &first || &most == &last)
    return conclude(Judgement::no, reason + ": there is no knee", std::move(evidence));
  return conclude(all_of({above(growth, 1), below(fall, 1)}), std::move(reason), std::move(evidence));
}

// N4: the same work for a call, by what is not polling.
Finding copies_cost_processor(const Claim& claim, const std::vector<Match>& matches) {
  const auto work = [](const CellSummary& cell) {
    const auto* all = cell.metric("client_cpu_per_op");
    const auto* busy = cell.metric("client_cpu");
    const auto* polling = cell.metric("client_process_polling");
    std::vector<double> values;
    if (all == nullptr || busy == nullptr || polling == nullptr) return values;
    for (std::size_t i = 0; i < std::min({all->values.size(), busy->values.size(), polling->values.size()}); ++i)
      values.push_back(all->values[i] * (1 - polling->values[i] / busy->values[i]));
    return values;
  };
  std::vector<Judgement> judgements;
  std::vector<Evidence> evidence;
  for (const auto& match : matches) {
    const auto ratio = compared(work(*match.cell), work(*match.rival), matches.size());
    evidence.push_back({place(claim, match), "Read-Write / Read-Read with a copy", ratio.ratio});
    judgements.push_back(below(ratio, 1));
  }
  auto reason = "the client's processor time per call, but for polling, is " + said(evidence);
  return conclude(all_of(judgements), std::move(reason), std::move(evidence));
}

// Attacks that are about other clients, not about buffers.
constexpr std::array kOfNoBuffer{"none", "flood", "stall", "mislead"};

// N10: counted successes, in every run; a count needs no interval. A late write gets at a client whatever the design
// is, as long as deregistration is deferred: what counts is that it does not where it is not.
Finding read_read_is_open(const Claim& claim, const std::vector<Match>& matches) {
  std::map<std::string, double> most;  // by design
  double late = 0;                     // without deferral
  std::string where;
  for (const auto& match : matches) {
    const auto& design = choice_of(*match.parameters, "design");
    const bool is_late = is(*match.parameters, "attack", "late-write");
    const auto deferred = is_late ? integer_of(*match.parameters, "deferred") : 0;
    const auto* successes = match.cell->metric(claim.metric);
    if (successes == nullptr) continue;
    const auto count = *std::max_element(successes->values.begin(), successes->values.end());
    if (count > 0)
      where +=
          fmt::format("{}{:.0f} by {} ({})", where.empty() ? "" : ", ", count, choice_of(*match.parameters, "attack"),
                      is_late ? fmt::format("deferred {}", deferred)
                              : fmt::format("{}, domain {}", design, choice_of(*match.parameters, "domain")));
    if (!is_late)
      most[design] = std::max(most[design], count);
    else if (deferred == 0)
      late = std::max(late, count);
  }
  auto reason = where.empty() ? std::string{"no attack succeeded"} : "successes: " + where;
  if (!most.contains("read-write") || !most.contains("read-read"))
    return undecided(reason + ": both designs are wanted", {});
  const bool holds = most["read-write"] == 0 && most["read-read"] > 0 && late == 0;
  return conclude(holds ? Judgement::yes : Judgement::no, std::move(reason), {});
}

std::string by_clients(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  return fmt::format("{}, {}, threads {}", by_path(cell, vocabulary), spelt("procedure"), spelt("threads"));
}

bool of_several_clients(const Parameters& parameters) {
  return (is(parameters, "procedure", "read") || is(parameters, "procedure", "write")) &&
         (!parameters.contains("design") || is(parameters, "design", "read-write"));
}

std::string by_delay(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  return fmt::format("{}, {}, threads {}", cell.provider, spelt("delay"), spelt("threads"));
}

}  // namespace

std::vector<Claim> rpc_claims() {
  return {
      {.id = "N1",
       .source = std::string{kPaper} + "section 5, figure 6",
       .statement = "A call takes longer where its buffers are registered on the way.",
       .criterion = "at every size the time with registration each time is above that with registered buffers",
       .workload = "rpc",
       .metric = "operation",
       .x = "size",
       .rival = Rival::twin,
       .twin = differing({{"strategy", "each-time", "preregistered"}}),
       .group = by_call,
       .concerns = long_call,
       .check = registration_costs},
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
      {.id = "N4",
       .source = std::string{kPaper} + "section 5.1, figure 7",
       .statement = "READ by Read-Write takes less of the client's processor than by Read-Read, which copies.",
       .criterion = "with every number of threads the client's processor time per call, but for polling, is less with "
                    "Read-Write without a copy than with Read-Read and a copy",
       .workload = "rpc",
       .metric = "client_cpu_per_op",
       .x = "threads",
       .rival = Rival::twin,
       .twin = differing({{"design", "read-write", "read-read"}, {"copy", "none", "client"}}),
       .group = by_path,
       .concerns = long_read,
       .check = copies_cost_processor,
       .needs_hardware = "a NIC does most of what the client's processors do here"},
      {.id = "N5",
       .source = std::string{kPaper} + "section 5.2, figures 9 and 10",
       .statement = "A cache of registered buffers at the server gives more throughput, READ more than WRITE.",
       .criterion =
           "at every size READ has more throughput with the server's buffers registered once than each time, and "
           "WRITE gains less",
       .workload = "rpc",
       .metric = "throughput",
       .x = "size",
       .rival = Rival::twin,
       .twin = differing({{"server_buffers", "preregistered", "each-time"}}),
       .group = by_delay,
       .concerns =
           [](const Parameters& parameters) { return long_call(parameters) && !is(parameters, "design", "push"); },
       .check = cache_gains_more_for_read,
       .samples = true},
      {.id = "N5f",
       .source = std::string{kPaper} + "section 5.2, figures 9 and 10",
       .statement =
           "Fast registration (here: memory windows) costs less than registration each time, and more than none on the "
           "way.",
       .criterion = "at every size a call with windows takes less time than with registration each time, and more than "
                    "with buffers registered once",
       .workload = "rpc",
       .metric = "operation",
       .x = "size",
       .rival = Rival::twin,
       .twin =
           [](const Match& match) {
             return match.rival->workload == match.cell->workload && is(*match.parameters, "strategy", "fast") &&
                    (is(*match.rival_parameters, "strategy", "each-time") ||
                     is(*match.rival_parameters, "strategy", "preregistered")) &&
                    same_but(*match.cell, *match.rival, {"strategy"});
           },
       .group = by_call,
       .concerns = long_call,
       .check = windows_lie_between,
       .samples = true},
      {.id = "N6",
       .source = std::string{kPaper} + "section 5.2, figure 11",
       .statement = "Copying to registered buffers at the client wins small records, registering each time large ones.",
       .criterion = "a copied call takes less time than a registered one at the smallest size, and more at the largest",
       .workload = "rpc",
       .metric = "operation",
       .x = "size",
       .rival = Rival::twin,
       .twin = differing({{"strategy", "preregistered", "each-time"}, {"copy", "client", "none"}}),
       .group = by_call,
       .concerns = long_call,
       .check = copying_wins_small_records,
       .course = true},
      {.id = "N7",
       .source = std::string{kPaper} + "section 5.3, figure 12",
       .statement = "A database's calls: a cache of registered buffers at the server gives more operations.",
       .criterion = "with every number of threads the OLTP mix has more throughput with the server's buffers "
                    "registered once than "
                    "each time",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .rival = Rival::twin,
       .twin = differing({{"server_buffers", "preregistered", "each-time"}}),
       .group = by_path,
       .concerns =
           [](const Parameters& parameters) {
             return is(parameters, "procedure", "oltp") && is(parameters, "design", "read-write");
           },
       .check = cache_wins_the_mix},
      {.id = "N8",
       .source = std::string{kPaper} + "section 5.3, figures 13 and 14",
       .statement = "One key for all memory gives the best READ, and a worse WRITE than registration: more chunks.",
       .criterion =
           "with segments of 4 KiB and nothing registered on the way READ has more throughput than with registration "
           "each time, and than with memory windows where those were measured, and WRITE less",
       .workload = "rpc",
       .metric = "throughput",
       .x = "size",
       .rival = Rival::twin,
       .twin =
           [](const Match& match) {
             return match.rival->workload == match.cell->workload &&
                    is(*match.parameters, "strategy", "preregistered") &&
                    (is(*match.rival_parameters, "strategy", "each-time") ||
                     is(*match.rival_parameters, "strategy", "fast")) &&
                    integer_of(*match.parameters, "segment") == kOnePage &&
                    integer_of(*match.rival_parameters, "segment") >= integer_of(*match.parameters, "size") &&
                    same_but(*match.cell, *match.rival, {"strategy", "segment"});
           },
       .group = by_delay,
       .concerns = long_call,
       .check = one_key_wins_read_only,
       .samples = true},
      {.id = "N9",
       .source = std::string{kPaper} + "section 5.4, figures 15 and 16",
       .statement =
           "Several clients of one server get more throughput together by RDMA than by sockets on the same link.",
       .criterion =
           "the most clients have more throughput together than one, and more than as many by sockets; the server's "
           "file is in memory",
       .workload = "rpc",
       .metric = "throughput",
       .x = "clients",
       .rival = Rival::baseline,
       .group = by_clients,
       .concerns =
           [](const Parameters& parameters) {
             return is(parameters, "store", "memory") && of_several_clients(parameters);
           },
       .check = clients_add_up,
       .course = true},
      {.id = "N9d",
       .source = std::string{kPaper} + "section 5.4, figures 15 and 16",
       .statement = "With disks behind the server throughput grows with clients until their files exceed its memory.",
       .criterion = "with a modelled store some number of clients has more throughput together than one and than the "
                    "most of them",
       .workload = "rpc",
       .metric = "throughput",
       .x = "clients",
       .rival = Rival::none,
       .group =
           [](const CellSummary& cell, const Vocabulary& vocabulary) {
             return fmt::format("{}, cache {}", by_clients(cell, vocabulary),
                                vocabulary.spelt(cell.workload, cell.parameters, "cache"));
           },
       .concerns =
           [](const Parameters& parameters) {
             return is(parameters, "transport", "rdma") && is(parameters, "store", "modelled") &&
                    of_several_clients(parameters);
           },
       .check = disks_make_a_knee,
       .course = true},
      {.id = "N10",
       .source = std::string{kPaper} + "section 4.1",
       .statement =
           "By Read-Read a client gets at the server's buffers with a guessed key, or keeps them by withholding "
           "RDMA_DONE; Read-Write exposes none.",
       .criterion = "some attack succeeds on Read-Read in some run, and none on Read-Write in any; a server's late "
                    "write changes "
                    "no buffer of a client that does not defer deregistration",
       .workload = "rpc_attack",
       .metric = "successes",
       .x = "tries",
       .rival = Rival::none,
       .concerns =
           [](const Parameters& parameters) {
             return std::none_of(kOfNoBuffer.begin(), kOfNoBuffer.end(),
                                 [&](const char* attack) { return is(parameters, "attack", attack); });
           },
       .check = read_read_is_open},
  };
}

}  // namespace longhaul::results
