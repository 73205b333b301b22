// The state of a whole Debian system of the lab before the collection is applied: a name, its network interfaces with
// their addresses, as the owner of a machine would have configured them. No routes, no RDMA, nothing of longhaul. Pure.
#pragma once

#include <vector>

#include "lab/plan/guest.hh"

namespace longhaul::lab {

/// The files of that VM, at their places in its own file system.
std::vector<OverlayFile> system_files(const GuestView& view);

}  // namespace longhaul::lab
