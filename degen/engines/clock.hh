// The clocks by which engines hold packets.
#pragma once

#include <time.h>

#include "model/units.hh"

namespace longhaul::degen {

inline Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} + Nanoseconds{time.tv_nsec};
}

}  // namespace longhaul::degen
