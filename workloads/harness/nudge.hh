// A thread that sleeps in a system call without a limit of time looks up when it should: signals interrupt the call.
#pragma once

#include <ctime>
#include <vector>

#include "model/units.hh"

namespace longhaul::workloads {

/// Sends the thread that made it a signal every so often, and when one of the sockets among `fds` has something to
/// read. Its handler notes it; a call that sleeps returns EINTR. One signal that comes between due() and the call is
/// lost, and the next one of the timer makes good for it.
class Nudge {
 public:
  /// Other descriptors than sockets, and negative ones, are not watched. Throws std::system_error.
  Nudge(Nanoseconds every, const std::vector<int>& fds);
  Nudge(const Nudge&) = delete;
  Nudge& operator=(const Nudge&) = delete;
  ~Nudge();

  /// True if this thread was nudged since it was last asked.
  static bool due();

 private:
  void stop();

  std::vector<int> fds_;
  timer_t timer_{};
};

}  // namespace longhaul::workloads
