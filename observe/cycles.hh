// Cycles of the processor that this process used, from the performance counters (perf_event_open(2)).
#pragma once

#include <cstdint>
#include <optional>

#include "common/fd.hh"

namespace longhaul::observe {

/// Counts from its construction on: the calling thread's cycles and those of every thread it begins later, kernel
/// included. Emulated and many virtual processors have no such counter, and without privileges the kernel may refuse
/// it (perf_event_paranoid above 1): then there is nothing to read.
class CycleCounter {
 public:
  CycleCounter();
  /// Since the construction; none where there is no counter, or where others had it for a part of the time.
  std::optional<std::int64_t> read() const;

 private:
  OwnFd event_;
};

}  // namespace longhaul::observe
