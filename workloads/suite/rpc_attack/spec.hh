// The rpc_attack workload's parameters and metrics.
#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::rpc_attack {

WorkloadSpec spec();

}  // namespace longhaul::workloads::rpc_attack
