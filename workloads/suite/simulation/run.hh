// The simulation, executed.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::simulation {

Runner runner();

}  // namespace longhaul::workloads::simulation
