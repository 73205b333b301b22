#include "workloads/transport/wait.hh"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "common/error.hh"
#include "common/signals.hh"

namespace longhaul::workloads {

using namespace std::chrono_literals;

bool wait_for(int fd, short events, const Patience& patience) {
  for (;;) {
    pollfd fds[2] = {{fd, events, 0}, {patience.stop, POLLIN, 0}};  // poll ignores a negative descriptor
    const auto left = std::max(Nanoseconds{0}, patience.deadline - observe::raw_time());
    const timespec timeout{left / 1s, (left % 1s).count()};
    const int ready = ::ppoll(fds, 2, &timeout, nullptr);
    if (ready < 0 && errno == EINTR) continue;
    check(ready, "wait for a peer");
    if (fds[1].revents != 0) throw Interrupted{};
    if (fds[0].revents != 0) return true;
    if (ready == 0) return false;
  }
}

void check_stop(int stop) {
  pollfd fd{stop, POLLIN, 0};
  if (stop >= 0 && ::poll(&fd, 1, 0) > 0) throw Interrupted{};
}

OwnFd catch_signals() {
  return signal_descriptor({SIGINT, SIGTERM});
}

}  // namespace longhaul::workloads
