// Limits on a workload process, and the messages when it reaches one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/child.hh"
#include "common/result.hh"
#include "model/units.hh"

namespace longhaul::agents {

/// Absent: no limit but the one that the agent itself was started with; a lower hard limit of the agent holds anyway.
struct ProcessLimits {
  /// Bytes that it may write to and shares with nobody (RLIMIT_DATA): heap, buffers, stacks, also before they are
  /// touched. Not RLIMIT_AS, which counts what a program maps and never uses: a thread's heap reserves 64 MiB, a
  /// device's registers count, too.
  std::optional<std::int64_t> memory;
  std::optional<std::int64_t> locked;  ///< bytes; what is registered with an RDMA device counts (RLIMIT_MEMLOCK)
  std::optional<Nanoseconds> cpu;      ///< of all its threads; RLIMIT_CPU counts whole seconds, they are rounded up
  std::optional<Nanoseconds> time;     ///< from its start, the wait for its peer included
  std::int64_t files = 65536;
  std::int64_t processes = 4096;  ///< and threads, of the agent's user (RLIMIT_NPROC)
};

/// For a node with `ram` bytes and `processors`: memory and locked memory all but a sixteenth of it (64 MiB at least),
/// an hour, and the processor time that there is in an hour, which the kernel enforces even where the agent hangs.
ProcessLimits default_limits(std::int64_t ram, int processors);

/// "none" and 0 are no limit. Refuses what is no quantity of this kind.
Result<std::optional<std::int64_t>> parse_limit(Kind kind, std::string_view text);

/// For the child between fork and exec; no core dump in any case. Time is the supervisor's business.
std::vector<ChildLimit> child_limits(const ProcessLimits& limits);

/// The message for a process that was ended because its time was over.
std::string overdue(const ProcessLimits& limits);

/// The limit that a process has met, with the remedy, by the words of its failure and by how it ended; empty where
/// nothing points at one. To be put behind the failure.
std::string limit_met(const ProcessLimits& limits, std::string_view failure, std::optional<int> signal = {});

}  // namespace longhaul::agents
