// The rendezvous workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::rendezvous {

Runner runner();

}  // namespace longhaul::workloads::rendezvous
