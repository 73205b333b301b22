#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::packets {

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::packets
