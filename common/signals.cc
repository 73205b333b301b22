#include "common/signals.hh"

#include <pthread.h>
#include <sys/signalfd.h>

#include <csignal>

#include "common/error.hh"

namespace longhaul {

OwnFd signal_descriptor(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) throw_errno("block signals", error);
  return OwnFd{check(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "open a signal descriptor")};
}

}  // namespace longhaul
