// The one measuring loop, the same for every transport and workload: operations are started, driven and timed here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/histogram.hh"
#include "workloads/harness/window.hh"
#include "workloads/transport/connection.hh"

namespace longhaul::workloads {

/// One connection's work, one operation at a time.
class Lane {
 public:
  virtual ~Lane() = default;
  /// Starts the next operation. Not called by a responder's loop.
  virtual void start() = 0;
  /// Makes progress without blocking. Client: true when the operation is complete; not called again before the next
  /// start(). Server: true when it answered.
  virtual bool advance() = 0;
  /// Between two operations, untimed (the client's side): verifies what has come. Throws std::runtime_error.
  virtual void inspect() {}
  /// The descriptor that a thread sleeps on until advance() may make progress.
  virtual Waitable& waitable() = 0;
  /// Nothing of it is under way any more: where one completion need not mean that.
  virtual bool idle() const { return true; }
  /// A phase begins (warm-up, window): forgets what the lane itself has counted so far.
  virtual void reset() {}
  /// Of which kind the operation under way is, below LoopOptions::kinds: a lane may take several in turn, so that they
  /// are measured in the same moments.
  virtual std::size_t kind() const { return 0; }
};

using Lanes = std::vector<std::unique_ptr<Lane>>;

struct LoopOptions {
  bool sleeping = false;      ///< wait for events instead of spinning
  bool inspecting = false;    ///< call inspect() after every operation and restart the clock
  Nanoseconds timeout{};      ///< without any operation coming to its end: throws ETIMEDOUT
  std::int64_t divisor = 1;   ///< elapsed time is divided by it: 2 for a ping-pong
  std::size_t kinds = 1;      ///< of operations, see Lane::kind()
  std::size_t raw_limit = 0;  ///< samples of each kind kept in order
  /// Operations of the phase so far, where one step of a lane may end several; empty: a step is one.
  std::function<std::uint64_t()> count;
  std::vector<int> wake_fds;  ///< readable: time for a tick (event mode)
  /// Called every few ms and when a wake_fd is readable, outside of what is timed where possible. Ends the loop by
  /// returning false, or throws.
  std::function<bool()> tick;
};

struct Samples {
  Histogram histogram;
  std::vector<std::int64_t> raw;  ///< ns

  void add(Nanoseconds sample, std::size_t raw_limit) {
    histogram.record(sample.count());
    if (raw.size() < raw_limit) raw.push_back(sample.count());
  }
};

/// Of a window's samples, those that a record keeps in order.
inline constexpr std::size_t kRawSamples = 2048;

/// Runs operations on all lanes until the window is over, then lets those that are under way come to their end.
/// Counts every operation that began in the window; the least number of operations is asked of every kind. Returns the
/// samples of each kind. Throws what lanes and tick throw; std::system_error ETIMEDOUT.
std::vector<Samples> run_operations(const Lanes& lanes, Window window, const LoopOptions& options);

/// Answers on all lanes until tick returns false.
void serve(const Lanes& lanes, const LoopOptions& options);

}  // namespace longhaul::workloads
