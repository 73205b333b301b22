// Getting both sides ready before the data moves: registration and keys, by the processes of paper F.
#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::transfer {

WorkloadSpec spec();

}  // namespace longhaul::workloads::transfer
