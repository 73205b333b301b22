// The warm-up of a lab before it is copied, the same for all campaigns: every copy then finds the code of the kernel
// and of the programs translated by QEMU, caches filled, neighbours known, and the links measured without impairment;
// each engine of degen has impaired once.
#pragma once

#include "orchestrator/run/order.hh"

namespace longhaul::orchestrator {

SealedOrder warm_up_order();

}  // namespace longhaul::orchestrator
