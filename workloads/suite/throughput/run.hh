// The throughput workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::throughput {

Runner runner();

}  // namespace longhaul::workloads::throughput
