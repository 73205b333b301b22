// The application on the server: a thread that computes all the time and times each of its runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

#include "model/histogram.hh"
#include "model/record.hh"
#include "workloads/harness/computation.hh"

namespace longhaul::workloads::cpu_load {

/// What the traffic is while a run of the application lasts; runs in which it changed count nowhere.
enum class Traffic : int { unknown, none, full };

class Application {
 public:
  /// Calibrates on the calling thread, then computes on one of its own.
  explicit Application(std::int64_t work);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  void traffic(Traffic now) { traffic_.store(now, std::memory_order_relaxed); }
  /// Ends the thread; then alone() and loaded() may be read.
  void stop();

  const Histogram& alone() const { return alone_; }
  const Histogram& loaded() const { return loaded_; }

 private:
  void compute(const std::stop_token& stop);

  Computation work_;
  std::atomic<Traffic> traffic_{Traffic::unknown};
  Histogram alone_;
  Histogram loaded_;
  std::jthread thread_;
};

/// Time of a processor that an application lost to the traffic, ns by byte: its share of the time, less when alone,
/// over the rate in bit/s. Pure. 0 where nothing came.
double cpu_per_byte(double alone, double loaded, double rate);

/// Cycles of the processor by ns of it that a process used. Pure. None where cycles are not counted.
std::optional<double> frequency(const CpuUse& use);

}  // namespace longhaul::workloads::cpu_load
