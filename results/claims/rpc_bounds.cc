// N11: what may be under way at a time bounds the throughput of WRITE.
#include <algorithm>

#include "results/claims/judge.hh"
#include "results/claims/rpc.hh"
#include "results/claims/rpc_calls.hh"

namespace longhaul::results {
namespace {

constexpr double kProportional = 1.1;
constexpr std::int64_t kFewPackets = 8192;  // of more rxe has less under way than ord allows: 128 packets

// One RDMA read a call, so that what bounds them is what bounds calls.
bool one_read_a_call(const Parameters& parameters) {
  return long_write(parameters) && integer_of(parameters, "delay") > 0 &&
         integer_of(parameters, "size") <= std::min(kFewPackets, integer_of(parameters, "segment"));
}

bool bounded_by_ord(const Parameters& parameters) {
  return one_read_a_call(parameters) && (is(parameters, "serving", "asynchronous") ||
                                         integer_of(parameters, "server_threads") >= integer_of(parameters, "threads"));
}

bool bounded_by_server_threads(const Parameters& parameters) {
  return one_read_a_call(parameters) && is(parameters, "serving", "blocking") &&
         integer_of(parameters, "ord") >= integer_of(parameters, "server_threads");
}

// The kernel's own NFS: a WRITE in one call, which it fetches by one read.
bool bounded_by_nfsd(const Parameters& parameters) {
  return is(parameters, "transport", "rdma") && is(parameters, "procedure", "write") &&
         integer_of(parameters, "delay") > 0 &&
         integer_of(parameters, "size") <= std::min(kFewPackets, integer_of(parameters, "transfer")) &&
         integer_of(parameters, "slots") >= integer_of(parameters, "threads");
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

std::vector<Claim> rpc_bound_claims() {
  return {
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
      {.id = "N11k",
       .source = std::string{kPaper} + "section 4.1",
       .statement =
           "The kernel's nfsd threads sleep until their RDMA reads are done, so they bound the throughput of WRITE.",
       .criterion =
           "throughput grows as the number of nfsd's threads does, within 10 %, as long as that is below half of the "
           "client's threads",
       .workload = "nfs",
       .metric = "throughput",
       .x = "server_threads",
       .rival = Rival::none,
       .group = by_path,
       .concerns = bounded_by_nfsd,
       .check = proportional},
  };
}

}  // namespace longhaul::results
