// Services of a lab VM that need root, for its agents: shell scripts that read lines from a named pipe, which the
// agents' group may write to. A line that is not as it should be is left unanswered.
#pragma once

#include <string>

namespace longhaul::lab {

/// Behind kTracingPipe: when one thread enters and leaves functions of the kernel (kprobe events).
std::string tracing_script();

/// Behind kNfsPipe: the kernel's NFS server and client.
std::string nfs_script();

}  // namespace longhaul::lab
