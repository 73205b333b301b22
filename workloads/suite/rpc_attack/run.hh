// The rpc_attack workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::rpc_attack {

/// The machine may be attacked by this workload from now on (longhaul-bench --listen --under-test). A lab's nodes
/// always may be.
void allow();

Runner runner();

}  // namespace longhaul::workloads::rpc_attack
