#include "workloads/suite/overlap/spec.hh"

#include <algorithm>

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::overlap {
namespace {

constexpr std::int64_t kPaper = 242'000;  // the paper's computation, read as microseconds (PAPERS.md, W4)

// At best the shorter of computation and round trip hides behind the longer.
std::optional<double> predict(const Parameters& parameters) {
  const auto computation = static_cast<double>(integer_of(parameters, "compute", kPaper));
  const auto round_trip = delays_of(parameters).round_trip();
  if (round_trip == 0 || computation == 0) return std::nullopt;
  return computation / std::max(computation, round_trip);
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "overlap",
      .summary =
          "the client computes between ping and pong: how much of the communication hides behind the computation",
      .parameters = with_harness(
          {size_parameter(1024),
           op_parameter({"write", "write_imm", "write_send", "send"}),
           {.name = "compute",
            .kind = Kind::duration,
            .help = "how long the client's computation lasts when nothing else runs",
            .fallback = Value{kPaper},
            .min = 0,
            .max = 10'000'000'000,
            .choices = {}},
           {.name = "progress",
            .kind = Kind::choice,
            .help = "who moves the data on while the client computes: inline: nobody but the kernel (non-blocking "
                    "sockets, as in the paper); thread: a helper thread that sleeps until data comes",
            .fallback = Value{"inline"},
            .choices = {"inline", "thread"},
            .needs = Capability::stream},
           payload_parameter()}),
      .metrics =
          {{.name = "overlap_ratio",
            .unit = "1",
            .better = Better::higher,
            .help = "computation time by itself / total time from before the ping until the pong is there (WAN paper, "
                    "section 4.2)"},
           {.name = "total",
            .unit = "ns",
            .better = Better::lower,
            .help = "ping, computation, and the wait for the pong that is left"},
           {.name = "pure", .unit = "ns", .better = Better::lower, .help = "ping and pong without computation"},
           {.name = "compute_time",
            .unit = "ns",
            .better = Better::neither,
            .help = "the computation by itself, measured in the same moments; within 10 % of what was asked"},
           {.name = "overlap",
            .unit = "%",
            .better = Better::higher,
            .help = "max(0, 1 - (total - compute_time) / pure), as OSU's non-blocking benchmarks report it"},
           {.name = "availability",
            .unit = "%",
            .better = Better::higher,
            .help = "1 - (total - compute_time) / pure where total is at least 1.5 x pure, as Sandia's SMB reports the "
                    "processor's availability to the application"}},
      .roles = {Role::client, Role::server},
      .needs = ping_pong_needs,
      .plot_axis = "compute",
      .predict = predict,
  };
}

}  // namespace longhaul::workloads::overlap
