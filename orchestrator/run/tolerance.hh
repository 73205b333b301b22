// Decides if the WAN was as the cell asks for. Pure.
#pragma once

#include <cstdint>

#include "common/result.hh"
#include "degen/client/messages.hh"
#include "degen/impairment/spec.hh"

namespace longhaul::orchestrator {

/// Tolerance of a median delay: max(1 %, 50 us); max(5 %, 0.2 ms) where processors are emulated.
Nanoseconds tolerance(Nanoseconds asked, bool emulated);

/// Tolerance for the median of so many samples: with jitter the median itself scatters, by 1.25 sigma / sqrt(n); three
/// of these are granted on top.
Nanoseconds tolerance(const degen::Direction& asked, std::uint64_t samples, bool emulated);

enum class Load {
  idle,  ///< probes alone
  busy   ///< beside a workload, which may fill a queue that has a rate
};

/// Refuses a measured path that is not the one asked for; the error says why it is not. `share` of the tolerance is
/// granted (closing the loop aims at less than what is judged later). Too few samples are a reason, too.
Result<void> on_target(const degen::Impairment& asked, const degen::Report& measured, bool emulated, Load load,
                       double share = 1.0);

inline constexpr std::uint64_t kFewestSamples = 5;  ///< of probes that a median is judged from

}  // namespace longhaul::orchestrator
