// Sleeping until one of several descriptors has something: epoll, with as few system calls as can be. A single
// connection is waited for in its own call, as a program that has nothing else to do would.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "common/fd.hh"
#include "workloads/harness/loop.hh"
#include "workloads/harness/nudge.hh"

namespace longhaul::workloads {

class Waiter {
 public:
  /// Watches what the lanes wait on and `wake_fds`.
  Waiter(const Lanes& lanes, const std::vector<int>& wake_fds, Nanoseconds timeout);

  /// Arms all of them and sleeps at most `timeout`. Returns true when a wake_fd is readable or time is up. Where a
  /// single lane sleeps in its transport's own call, signals tell that; of wake_fds only sockets can.
  bool sleep();

 private:
  struct Watched {
    Waitable* waitable;
    std::uint32_t events;  // as epoll knows them
  };
  void control(int operation, int fd, std::uint32_t events, std::uint64_t mark);

  OwnFd epoll_;
  int milliseconds_;
  std::vector<Watched> watched_;
  std::vector<epoll_event> found_;
  std::optional<Nudge> nudge_;  // of a single lane
};

}  // namespace longhaul::workloads
