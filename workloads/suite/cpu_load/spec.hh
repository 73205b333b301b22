#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::cpu_load {

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::cpu_load
