// Services of a lab VM that need root, for its agents: shell scripts that read lines from a named pipe, which the
// agents' group may write to. A line that is not as it should be is left unanswered.
#pragma once

#include <optional>
#include <string>

namespace longhaul::lab {

/// Behind kTracingPipe: when one thread enters and leaves functions of the kernel (kprobe events).
std::string tracing_script();

/// Masks of the processors of two nodes that share a machine.
struct NfsProcessors {
  unsigned client;
  unsigned server;
};
/// Behind kNfsPipe: the kernel's NFS server and client, whose threads stay on their nodes' processors where there are
/// such.
std::string nfs_script(const std::optional<NfsProcessors>& processors);

}  // namespace longhaul::lab
