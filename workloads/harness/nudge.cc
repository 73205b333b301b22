#include "workloads/harness/nudge.hh"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

thread_local volatile std::sig_atomic_t nudged = 0;

// Nobody else in longhaul uses a real-time signal; glibc keeps its own below SIGRTMIN.
int nudging() {
  return SIGRTMIN;
}

timespec timespec_of(Nanoseconds time) {
  return {time / 1s, (time % 1s).count()};
}

void handle_signal() {
  struct sigaction action {};
  action.sa_handler = [](int) { nudged = 1; };  // and no SA_RESTART: calls that sleep end
  check(::sigaction(nudging(), &action, nullptr), "handle the signal of a timer");
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, nudging());
  if (const int error = ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr); error != 0)
    throw_errno("let the signal of a timer through", error);
}

// Off: whoever reads it next is not this thread.
void set_signals(int fd, bool on) {
  const int flags = check(::fcntl(fd, F_GETFL), "read the flags of a descriptor");
  f_owner_ex owner{F_OWNER_TID, on ? ::gettid() : 0};
  check(::fcntl(fd, F_SETOWN_EX, &owner), "name the thread that a descriptor tells");
  check(::fcntl(fd, F_SETSIG, on ? nudging() : 0), "name the signal by which a descriptor tells");
  check(::fcntl(fd, F_SETFL, on ? flags | O_ASYNC : flags & ~O_ASYNC), "have a descriptor tell");
}

}  // namespace

Nudge::Nudge(Nanoseconds every, const std::vector<int>& fds) {
  handle_signal();
  nudged = 1;  // what came before this is not told
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = nudging();
  event._sigev_un._tid = ::gettid();  // glibc 2.36 has no name for it
  check(::timer_create(CLOCK_MONOTONIC, &event, &timer_), "create a timer");
  try {
    const itimerspec period{timespec_of(every), timespec_of(every)};
    check(::timer_settime(timer_, 0, &period, nullptr), "start a timer");
    for (const int fd : fds) {
      if (fd < 0) continue;
      fds_.push_back(fd);
      set_signals(fd, true);
    }
  } catch (...) {
    stop();
    throw;
  }
}

Nudge::~Nudge() {
  stop();
}

void Nudge::stop() {
  for (const int fd : fds_) {
    try {
      set_signals(fd, false);
    } catch (const std::system_error& error) {
      log::warn("{}", error.what());  // the descriptor was closed before its nudge
    }
  }
  ::timer_delete(timer_);
}

bool Nudge::due() {
  const bool was = nudged != 0;
  nudged = 0;
  return was;
}

}  // namespace longhaul::workloads
