#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::throughput {

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::throughput
