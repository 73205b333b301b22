// All workloads that longhaul knows. The CLI, campaign validation and the agents' whitelist derive from it.
// The list itself is LONGHAUL_WORKLOADS in workloads/CMakeLists.txt: catalog.cc is generated from it.
#pragma once

#include <string_view>
#include <vector>

#include "model/parameter.hh"

namespace longhaul::workloads {

/// Every workload's spec, in the order of LONGHAUL_WORKLOADS.
const std::vector<WorkloadSpec>& catalog();

/// Finds by name; nullptr when there is none.
const WorkloadSpec* find_workload(std::string_view name);

}  // namespace longhaul::workloads
