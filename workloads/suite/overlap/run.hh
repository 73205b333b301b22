// The overlap workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::overlap {

Runner runner();

}  // namespace longhaul::workloads::overlap
