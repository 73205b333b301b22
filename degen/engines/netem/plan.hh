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
  std::uint32_t limit = 0;        ///< packets
  std::uint32_t loss = 0;         ///< of 2^32 - 1, as all probabilities here
  std::optional<Gilbert> bursts;  ///< in place of `loss`
  std::uint32_t duplicate = 0;
  std::uint32_t reorder = 0;
  std::uint64_t rate = 0;  ///< bytes/s; 0: none
  bool operator==(const NetemQdisc&) const = default;
};

namespace netem {

std::vector<NetemQdisc> qdiscs_of(const ImpairmentPlan& plan);

Planner planner();

}  // namespace netem
}  // namespace longhaul::degen
