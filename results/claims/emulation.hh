// W11: that the emulated WAN is what was asked for. Judged on the cells of the workload `packets`.
#pragma once

#include "results/claims/claim.hh"

namespace longhaul::results {

Claim emulation_claim();

}  // namespace longhaul::results
