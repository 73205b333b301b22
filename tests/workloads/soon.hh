// The patience of a test with a peer that answers at once.
#pragma once

#include <chrono>

#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

inline Patience soon() {
  return Patience::of(std::chrono::seconds{5}, -1);
}

}  // namespace longhaul::workloads
