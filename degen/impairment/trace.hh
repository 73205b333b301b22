// Schedules of other people's records of links. Pure.
#pragma once

#include <string_view>

#include "degen/impairment/schedule.hh"

namespace longhaul::degen {

/// The schedule of a trace, of one direction:
/// - Mahimahi's packet-delivery trace (mm-link(1)): lines of milliseconds, ascending, each of them an opportunity to
///   deliver 1500 bytes; begun anew after the last. It becomes the rate of each `step`, which delivers as many full
///   packets; where there are none the link is down.
/// - CSV whose first line names its columns: time, and of delay, loss and rate those that change; values with their
///   units (0.5s, 30ms, 1%, 5Mbit/s, down), an empty one changes nothing. It is not begun anew.
/// Errors name the line.
Result<Schedule> read_trace(std::string_view text, Nanoseconds step);

inline constexpr Nanoseconds kTraceStep = std::chrono::milliseconds{100};

}  // namespace longhaul::degen
