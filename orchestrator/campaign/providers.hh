// Properties of RDMA providers that need no device.
#pragma once

#include <string>

#include "model/parameter.hh"

namespace longhaul::orchestrator {

/// Why no device of the cell's provider can run the workload with these parameters; empty: it may be able to.
std::string unsupported_by_provider(const WorkloadSpec& workload, const Parameters& cell);

}  // namespace longhaul::orchestrator
