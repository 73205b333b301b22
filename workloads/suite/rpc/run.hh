// The rpc workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::rpc {

Runner runner();

}  // namespace longhaul::workloads::rpc
