// Every workload's code. The list itself is LONGHAUL_WORKLOADS in workloads/CMakeLists.txt: runners.cc is generated
// from it.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/harness/runner.hh"

namespace longhaul::workloads {

/// In the order of the catalog, each with its spec.
const std::vector<Runner>& runners();

/// By its workload's name; nullptr when there is none.
const Runner* find_runner(std::string_view workload);

}  // namespace longhaul::workloads
