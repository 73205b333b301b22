#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::nfs {

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::nfs
