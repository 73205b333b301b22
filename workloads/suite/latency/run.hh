// The latency workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::latency {

Runner runner();

}  // namespace longhaul::workloads::latency
