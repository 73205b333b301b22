// The nfs workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::nfs {

Runner runner();

}  // namespace longhaul::workloads::nfs
