// What warms a lab up before it is copied, the same for all campaigns: every copy then finds the code of the kernel and
// of the programs translated by QEMU, caches filled, neighbours known, and the links measured without impairment; each
// engine of degen has impaired once.
#pragma once

#include "orchestrator/run/order.hh"

namespace longhaul::orchestrator {

/// Made once, before the machine is kept: all that its memory remembers (modules, neighbours, caches, links).
SealedOrder settling_order();

/// Made then, too, by every engine of degen: its modules and programs are in the kernel then, and how late it is is
/// known, beside a workload, too. An engine that this kernel cannot have is told, and the lab is without it.
SealedOrder engines_order();

/// Made whenever a kept machine is loaded, before it is copied: a few runs by the most common ways, for QEMU keeps no
/// translated code. With two fewer every copy would take a tenth longer.
SealedOrder rehearsal_order();

}  // namespace longhaul::orchestrator
