// The application on the server: a thread that computes all the time, and how fast it gets on.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

#include "model/record.hh"
#include "observe/clock.hh"
#include "workloads/harness/computation.hh"

namespace longhaul::workloads::cpu_load {

/// One run of the application is so many steps. Steps are counted, not runs: of an application that hardly gets the
/// processor few runs lie whole in a window, and those are its quickest.
constexpr std::uint64_t kStepsOfARun = 64;

/// The number of steps that were done one after another, and their time.
struct Pace {
  std::uint64_t steps = 0;
  Nanoseconds taken{};

  /// Time of a run at this pace, ns; 0 where nothing was done.
  double run_time() const;
};

class Application {
 public:
  /// Calibrates on the calling thread, then computes on one of its own.
  explicit Application(Nanoseconds work);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// When there is no traffic for certain, and when there is, by observe::raw_time(): steps that lie whole in one of
  /// these count.
  void quiet(observe::RawTime from, observe::RawTime until) { quiet_.set(from, until); }
  void busy(observe::RawTime from, observe::RawTime until) { busy_.set(from, until); }
  /// Ends the thread; then alone() and loaded() may be read.
  void stop();

  const Pace& alone() const { return alone_; }
  const Pace& loaded() const { return loaded_; }

 private:
  /// Set once, by another thread than the one that looks.
  class Span {
   public:
    void set(observe::RawTime from, observe::RawTime until) {
      until_.store(until, std::memory_order_relaxed);
      from_.store(from, std::memory_order_release);
    }
    bool holds(observe::RawTime begun, observe::RawTime ended) const {
      return begun >= from_.load(std::memory_order_acquire) && ended <= until_.load(std::memory_order_relaxed);
    }

   private:
    std::atomic<observe::RawTime> from_{observe::RawTime::max()};
    std::atomic<observe::RawTime> until_{};
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
