#include "observe/cycles.hh"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace longhaul::observe {

CycleCounter::CycleCounter() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.inherit = 1;
  attributes.exclude_hv = 1;
  constexpr int kThisThread = 0;
  constexpr int kAnyProcessor = -1;
  constexpr int kNoGroup = -1;
  event_ = OwnFd{static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, kThisThread, kAnyProcessor, kNoGroup, PERF_FLAG_FD_CLOEXEC))};
}

std::optional<std::int64_t> CycleCounter::read() const {
  if (event_.get() < 0) return std::nullopt;
  std::array<std::uint64_t, 3> counted{};  // value, time enabled, time running
  if (::read(event_.get(), counted.data(), sizeof counted) != sizeof counted) return std::nullopt;
  if (counted[1] != counted[2]) return std::nullopt;  // shared with other events: an extrapolation is no count
  return static_cast<std::int64_t>(counted[0]);
}

}  // namespace longhaul::observe
