// Services of a lab VM that need root, for its agents: shell scripts that read lines from a named pipe, which the
// agents' group may write to. A line that is not as it should be is left unanswered.
#pragma once

#include <string>

namespace longhaul::lab {

/// Behind kSteeringPipe: on which processors an interface's packets are received. Nodes that share a machine are told
/// apart so where a workload measures what receiving costs; the kernel lets only root do it.
std::string steering_script();

/// Behind kTracingPipe: when one thread enters and leaves functions of the kernel (kprobe events).
std::string tracing_script();

/// Behind kNfsPipe: the kernel's NFS server and client.
std::string nfs_script();

}  // namespace longhaul::lab
