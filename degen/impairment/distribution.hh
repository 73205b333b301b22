// Distributions of jitter: tables of the inverse distribution, in the form that netem takes; nfqueue and edt draw from
// them, too, so that all engines mean the same by one name.
#pragma once

#include <cstdint>
#include <span>

#include "degen/impairment/spec.hh"

namespace longhaul::degen {

/// A table value of this is one `jitter` (NETEM_DIST_SCALE of linux/pkt_sched.h).
inline constexpr std::int64_t kDistributionScale = 8192;
inline constexpr std::size_t kDistributionSize = 4096;

/// 4096 deviations from the mean at equal steps of probability, ascending. Values end at 4 jitters (16 bits).
std::span<const std::int16_t> distribution_table(Distribution distribution);

/// The deviation that a uniform 32-bit random number draws.
Nanoseconds draw_deviation(Distribution distribution, Nanoseconds jitter, std::uint32_t random);

}  // namespace longhaul::degen
