#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::rendezvous {

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::rendezvous
