// Sleeping until one of several descriptors has something: epoll, with as few system calls as can be.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <vector>

#include "common/fd.hh"
#include "workloads/harness/loop.hh"

namespace longhaul::workloads {

class Waiter {
 public:
  /// Watches what the lanes wait on and `wake_fds`.
  Waiter(const Lanes& lanes, const std::vector<int>& wake_fds);

  /// Arms all of them and sleeps at most `timeout`. Returns true when a wake_fd is readable or time is up.
  bool sleep(Nanoseconds timeout);

 private:
  struct Watched {
    Waitable* waitable;
    std::uint32_t events;  // as epoll knows them
  };
  void control(int operation, int fd, std::uint32_t events, std::uint64_t mark);

  OwnFd epoll_;
  std::vector<Watched> watched_;
  std::vector<epoll_event> found_;
};

}  // namespace longhaul::workloads
