#pragma once

#include "workloads/harness/runner.hh"

namespace longhaul::workloads::transfer {

Runner runner();

}  // namespace longhaul::workloads::transfer
