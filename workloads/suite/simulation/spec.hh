// The declaration of the simulation: a registration cache over a trace, computed on one node.
#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::simulation {

/// The trace that is made up from the other parameters; any other is a file.
inline constexpr const char* kGenerated = "generated";

WorkloadSpec spec();

}  // namespace longhaul::workloads::simulation
