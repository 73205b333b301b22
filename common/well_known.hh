// Paths that programs of different components meet at.
#pragma once

namespace longhaul {

/// A named pipe that takes lines "NETDEV MASK": on which processors the packets of an interface are received (receive
/// packet steering, which needs CAP_NET_ADMIN). A lab whose nodes share a machine has it; written by
/// workloads/harness/steering and by agents.
inline constexpr const char* kSteeringPipe = "/run/longhaul/steering";

}  // namespace longhaul
