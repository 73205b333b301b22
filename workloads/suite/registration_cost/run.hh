#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::registration_cost {

/// Measures on one node; needs no peer.
Runner runner();

}  // namespace longhaul::workloads::registration_cost
