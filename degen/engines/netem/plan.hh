// Engine netem's kernel objects as data: a root qdisc for each interface by which packets leave. Pure.
#pragma once

#include "degen/engines/planner.hh"

namespace longhaul::degen {

/// Parameters of the root qdisc of one interface, in the kernel's units (struct tc_netem_qopt and beyond).
struct NetemQdisc {
  std::string interface;
  Way way = Way::forward;
  Nanoseconds latency{0};
  Nanoseconds jitter{0};
  Distribution distribution = Distribution::uniform;
  std::uint32_t limit = 0;          ///< packets
  std::uint32_t loss = 0;           ///< of 2^32 - 1, as all probabilities here
  std::optional<LossModel> bursts;  ///< in place of `loss`
  bool ecn = false;
  std::uint32_t duplicate = 0;
  std::uint32_t corrupt = 0;
  std::uint32_t reorder = 0;
  std::uint64_t rate = 0;                  ///< bytes/s; 0: none
  std::optional<std::uint64_t> seed = {};  ///< empty: the kernel draws one
  bool operator==(const NetemQdisc&) const = default;
};

namespace netem {

/// `seeded`: the kernel's netem takes a seed. `since` the schedules of the plan began: what they have at that time.
std::vector<NetemQdisc> qdiscs_of(const ImpairmentPlan& plan, bool seeded = false, Nanoseconds since = {});

/// When the qdiscs are to change next, since the schedules began: after `since`. Empty: never.
std::optional<Nanoseconds> next_change(const ImpairmentPlan& plan, Nanoseconds since);

/// Between two changes of a schedule at least: degen itself makes them, and comes as late as its processor is busy.
inline constexpr Nanoseconds kShortestStep = std::chrono::milliseconds{10};

/// Whether netem of this kernel (`uname -r`) draws by a seed: since Linux 6.7 (TCA_NETEM_PRNG_SEED).
bool draws_by_seed(std::string_view release);

/// Refuses a seed that somebody named where netem draws from the kernel's random numbers.
Result<void> check_seed(const ImpairmentPlan& plan, std::string_view release);

Planner planner();

}  // namespace netem
}  // namespace longhaul::degen
