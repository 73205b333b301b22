// Paths that programs of different components meet at.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace longhaul {

/// A named pipe that takes lines "NETDEV MASK": on which processors the packets of an interface are received (receive
/// packet steering, which needs CAP_NET_ADMIN). A lab whose nodes share a machine has it; written by
/// workloads/harness/steering and by agents.
inline constexpr const char* kSteeringPipe = "/run/longhaul/steering";

/// A named pipe that takes lines "start NAME THREAD FUNCTION..." and "stop NAME": the kernel's tracer says when that
/// thread entered and left these functions. A lab's end nodes have it. While it traces there is a file kTracingPipe +
/// "-NAME.on", after stop kTracingPipe + "-NAME.txt" appears whole: first a line "enter ID FUNCTION" and a line
/// "leave ID FUNCTION" for each, then a line "THREAD PROCESSOR NS type: ID" for each event, in their order. Neither
/// file comes where another thread is traced, or where the kernel has none of the functions. NAME is of [a-z0-9-],
/// THREAD is as gettid() gives it.
inline constexpr const char* kTracingPipe = "/run/longhaul/tracing";

/// The last measured cost of registering memory of this user (a profile): `longhaul costs --profile` writes
/// it, `longhaul simulate --cost measured` reads it. Below ${XDG_STATE_HOME:-~/.local/state}.
inline std::filesystem::path measured_costs() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base = state != nullptr && *state != '\0'
                                         ? std::filesystem::path{state}
                                         : std::filesystem::path{home != nullptr ? home : "/tmp"} / ".local/state";
  return base / "longhaul" / "measured-costs.json";
}

}  // namespace longhaul
