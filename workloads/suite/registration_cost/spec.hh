#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::registration_cost {

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::registration_cost
