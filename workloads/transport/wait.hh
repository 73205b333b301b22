// Waiting for a descriptor: bounded by a deadline, ended by the user.
#pragma once

#include "common/fd.hh"
#include "model/units.hh"
#include "observe/clock.hh"

namespace longhaul::workloads {

/// Thrown out of any wait or loop when the user (Ctrl-C, SIGTERM) wants the program to end.
struct Interrupted {};

/// Until when to wait, and the descriptor that becomes readable when the user wants to stop (-1:
/// none).
struct Patience {
  observe::RawTime deadline;
  int stop = -1;

  static Patience of(Nanoseconds time, int stop) { return {observe::raw_time() + time, stop}; }
};

/// Waits for poll(2) events on `fd`; false at the deadline. Throws Interrupted.
bool wait_for(int fd, short events, const Patience& patience);

/// Throws Interrupted when `stop` is readable. A system call.
void check_stop(int stop);

/// SIGINT and SIGTERM as a readable descriptor. They stay blocked in this thread and those that it starts, and for the
/// rest of the process's life: the pending signal must not kill it while it cleans up.
OwnFd catch_signals();

}  // namespace longhaul::workloads
