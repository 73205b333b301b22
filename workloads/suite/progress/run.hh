// The progress workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::progress {

Runner runner();

}  // namespace longhaul::workloads::progress
