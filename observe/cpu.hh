// CPU accounting: the whole node's by processor, from the kernel (/proc/stat), and this process's, from getrusage(2).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "model/record.hh"
#include "observe/polling.hh"

namespace longhaul::observe {

/// CPU time since boot in ns. The kernel's unit is 1/USER_HZ (10 ms); Debian's kernel samples irq and softirq by the
/// tick (250 Hz), it does not time them.
struct CpuTimes {
  std::int64_t user = 0;  ///< guests included, nice not
  std::int64_t nice = 0;
  std::int64_t system = 0;
  std::int64_t irq = 0;
  std::int64_t softirq = 0;
  std::int64_t steal = 0;
  std::int64_t idle = 0;  ///< waiting for I/O included
  bool operator==(const CpuTimes&) const = default;
};

struct CpuSample {
  std::int64_t time = 0;         ///< CLOCK_MONOTONIC_RAW ns
  std::map<int, CpuTimes> cpus;  ///< by processor number; processors that are offline are absent
  std::int64_t process_user = 0;
  std::int64_t process_system = 0;
  std::optional<Polling> polling = {};  ///< of the calling thread, where its loop has run
};

/// Parses the text of /proc/stat. `ticks_per_second` is sysconf(_SC_CLK_TCK).
Result<std::map<int, CpuTimes>> parse_proc_stat(std::string_view text, std::int64_t ticks_per_second);

/// Reads both. Takes tens of microseconds (milliseconds on an emulated processor): call it outside of the timed loop.
/// Throws std::system_error when /proc/stat cannot be read.
CpuSample sample_cpu();

/// Processor time used between two samples, summed over `cpus` (empty: all processors that are in both).
CpuUse cpu_use(const CpuSample& start, const CpuSample& stop, const std::vector<int>& cpus = {});

}  // namespace longhaul::observe
