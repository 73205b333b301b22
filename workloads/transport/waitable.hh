// Something that a thread can sleep on until there is work.
#pragma once

#include <cstdint>

namespace longhaul::workloads {

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
};

}  // namespace longhaul::workloads
