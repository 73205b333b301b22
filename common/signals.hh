// Signals that end a program, as a descriptor that a loop can wait for.
#pragma once

#include <initializer_list>

#include "common/fd.hh"

namespace longhaul {

/// Readable when one of them has come. They stay blocked in this thread and in those that it starts, for the rest of
/// the process's life: a signal that is pending must not kill it while it cleans up. So it is called before other
/// threads exist. Non-blocking. Throws std::system_error.
OwnFd signal_descriptor(std::initializer_list<int> signals);

}  // namespace longhaul
