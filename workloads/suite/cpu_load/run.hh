// The cpu_load workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::cpu_load {

Runner runner();

}  // namespace longhaul::workloads::cpu_load
