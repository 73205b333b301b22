// A ping-pong with a computation in between, and one whose pong a helper thread waits for.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "workloads/harness/computation.hh"
#include "workloads/harness/loop.hh"

namespace longhaul::workloads::overlap {

/// An exchange with the computation in it, and one without. Taken in turn, so that both are measured in the same
/// moments.
enum Kind : std::size_t { total, pure };
inline constexpr std::size_t kKinds = 2;

class OverlapLane final : public Lane {
 public:
  OverlapLane(Lane& exchange, Computation& work) : exchange_(exchange), work_(work) {}

  void start() override;
  bool advance() override { return exchange_.advance(); }
  /// Between the exchanges: the computation by itself, some times.
  void inspect() override;
  void reset() override { alone_ = Histogram{}; }
  Waitable& waitable() override { return exchange_.waitable(); }
  std::size_t kind() const override { return kind_; }

  /// Times of the computation by itself since reset(), ns.
  const Histogram& alone() const { return alone_; }

 private:
  Lane& exchange_;
  Computation& work_;
  std::size_t kind_ = Kind::total;
  Histogram alone_;
};

/// The same exchange, brought to its end by a thread of its own that sleeps until the connection has something. Between
/// start() and the true that advance() returns the connection is the helper's.
class HelpedLane final : public Lane {
 public:
  explicit HelpedLane(Lane& exchange);
  ~HelpedLane() override;
  HelpedLane(const HelpedLane&) = delete;
  HelpedLane& operator=(const HelpedLane&) = delete;

  void start() override;
  /// Waits for the helper for a moment: spinning would take the processor away from it where there is only one.
  bool advance() override;
  Waitable& waitable() override { return exchange_.waitable(); }

 private:
  enum class State { idle, under_way, done };
  void help(const std::stop_token& stop);
  bool see_through(const std::stop_token& stop);

  Lane& exchange_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  State state_ = State::idle;
  std::exception_ptr broken_;
  std::jthread helper_;
};

}  // namespace longhaul::workloads::overlap
