// The application on the server: a thread that computes all the time, and how fast it gets on.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <thread>

#include "model/record.hh"
#include "workloads/harness/computation.hh"

namespace longhaul::workloads::cpu_load {

/// One run of the application is so many steps. Steps are counted, not runs: of an application that hardly gets the
/// processor few runs lie whole in a window, and those are its quickest.
constexpr std::uint64_t kStepsOfARun = 64;

/// What was done, one step behind the other, and how long it took.
struct Pace {
  std::uint64_t steps = 0;
  std::int64_t taken = 0;  ///< ns

  /// How long a run takes at this pace, ns; 0 where nothing was done.
  double run_time() const;
};

class Application {
 public:
  /// Calibrates on the calling thread, then computes on one of its own.
  explicit Application(std::int64_t work);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// When there is no traffic for certain, and when there is, by observe::raw_time(): steps that lie whole in one of
  /// these count.
  void quiet(std::int64_t from, std::int64_t until) { quiet_.set(from, until); }
  void busy(std::int64_t from, std::int64_t until) { busy_.set(from, until); }
  /// Ends the thread; then alone() and loaded() may be read.
  void stop();

  const Pace& alone() const { return alone_; }
  const Pace& loaded() const { return loaded_; }

 private:
  /// Set once, by another thread than the one that looks.
  class Span {
   public:
    void set(std::int64_t from, std::int64_t until) {
      until_.store(until, std::memory_order_relaxed);
      from_.store(from, std::memory_order_release);
    }
    bool holds(std::int64_t begun, std::int64_t ended) const {
      return begun >= from_.load(std::memory_order_acquire) && ended <= until_.load(std::memory_order_relaxed);
    }

   private:
    std::atomic<std::int64_t> from_{std::numeric_limits<std::int64_t>::max()};
    std::atomic<std::int64_t> until_{0};
  };

  void compute(const std::stop_token& stop);

  Computation step_;
  Span quiet_;
  Span busy_;
  Pace alone_;
  Pace loaded_;
  std::jthread thread_;
};

/// Time of a processor that an application lost to the traffic, ns by byte: its share of the time, less when alone,
/// over the rate in bit/s. Pure. 0 where nothing came.
double cpu_per_byte(double alone, double loaded, double rate);

/// Cycles of the processor by ns of it that a process used. Pure. None where cycles are not counted.
std::optional<double> frequency(const CpuUse& use);

}  // namespace longhaul::workloads::cpu_load
