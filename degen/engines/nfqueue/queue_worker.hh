// One netfilter queue and the thread that holds its packets until they are due.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "common/fd.hh"
#include "degen/engines/engine.hh"
#include "degen/engines/nfqueue/plan.hh"

namespace longhaul::degen {

class QueueWorker {
 public:
  /// Binds the queue. `begin`: of a schedule, CLOCK_MONOTONIC. Throws std::system_error: EBUSY when another program
  /// holds this queue number.
  QueueWorker(const PacketQueue& queue, const EngineOptions& options, Nanoseconds begin);
  QueueWorker(const QueueWorker&) = delete;
  QueueWorker& operator=(const QueueWorker&) = delete;
  /// Lets go of all packets that wait, then gives the queue back.
  ~QueueWorker();

  Way way() const { return queue_.way; }
  std::uint16_t number() const { return queue_.number; }
  const std::string& interface() const { return queue_.interface; }
  /// Its thread has given up: packets pass unimpaired.
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Decided by the worker; what the kernel dropped because the queue was full comes on top.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  std::uint64_t numbered() const { return numbered_.load(std::memory_order_relaxed); }
  std::uint64_t overflowed() const { return overflowed_.load(std::memory_order_relaxed); }

 private:
  void run() noexcept;
  void loop();

  PacketQueue queue_;
  EngineOptions options_;
  Nanoseconds begin_;
  OwnFd socket_;
  OwnFd stop_;
  OwnFd stamps_;
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> overflowed_{0};
  std::atomic<std::uint64_t> numbered_{0};
  std::atomic<bool> failed_{false};
  std::jthread thread_;
};

/// Why this process cannot have netfilter queues here: an errno value; 0: it can. Leaves nothing behind, but may have
/// the kernel load its module. Throws std::system_error.
int queues_refused();

/// Why a thread of this process cannot have real-time priority: an errno value; 0: it can.
int real_time_refused();

}  // namespace longhaul::degen
