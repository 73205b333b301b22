// Something that a thread can sleep on until there is work.
#pragma once

#include <cstdint>

namespace longhaul::workloads {

/// How a sleep in a transport's own call ended. `cannot`: it has none now, nothing was done. `interrupted`: by a
/// signal, or by something that poll() will tell.
enum class Slept { cannot, woken, interrupted };

/// Used by one thread: call arm(); when it returns true, wait for wait_events() (epoll's) on event_fd(), then look for
/// what has come. When it returns false something is there already.
class Waitable {
 public:
  Waitable() = default;
  Waitable(const Waitable&) = delete;
  Waitable& operator=(const Waitable&) = delete;
  virtual ~Waitable() = default;

  virtual bool arm() = 0;
  virtual int event_fd() const = 0;
  virtual std::uint32_t wait_events() const = 0;

  /// For a thread that waits for nothing else: sleeps in the call by which a program of this transport waits, without
  /// a limit of time, until something has come or a signal interrupts. Saves a system call between that and poll().
  /// Throws as poll() does.
  virtual Slept block() { return Slept::cannot; }
};

}  // namespace longhaul::workloads
