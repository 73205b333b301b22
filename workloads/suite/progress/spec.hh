#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::progress {

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::progress
