// The packets workload's two sides.
#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::packets {

Runner runner();

}  // namespace longhaul::workloads::packets
