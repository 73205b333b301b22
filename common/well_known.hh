// Paths that programs of different components meet at.
#pragma once

namespace longhaul {

/// A named pipe that takes lines "NETDEV MASK": on which processors the packets of an interface are received (receive
/// packet steering, which needs CAP_NET_ADMIN). A lab whose nodes share a machine has it; written by
/// workloads/harness/steering and by agents.
inline constexpr const char* kSteeringPipe = "/run/longhaul/steering";

/// A named pipe that takes lines "start NAME THREAD FUNCTION..." and "stop NAME": the kernel's tracer says how long
/// these functions took in that thread. A lab's end nodes have it. While it traces there is a file kTracingPipe +
/// "-NAME.on", after stop kTracingPipe + "-NAME.txt" appears whole. Neither comes where another thread has the tracer,
/// or where the kernel has none of the functions. NAME is of [a-z0-9-], THREAD is as gettid() gives it.
inline constexpr const char* kTracingPipe = "/run/longhaul/tracing";

}  // namespace longhaul
