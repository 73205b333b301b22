#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::overlap {

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::overlap
