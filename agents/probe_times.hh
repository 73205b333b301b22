// When the probes of one request are sent. Pure.
#pragma once

#include <vector>

#include "agents/protocol/messages.hh"
#include "model/units.hh"

namespace longhaul::agents {

/// The times of `request.count` probes after the start, ascending: each at a random time of its own interval
/// (stratified random sampling: Claffy, Polyzos and Braun, SIGCOMM 1993). At a fixed interval they would be
/// in step with whatever is periodic on the path, and see it always or never (RFC 2330, section 11.1): a workload's
/// packets, the tick of a kernel, and one another, for at a delay that is a multiple of the interval one enters the
/// router as another leaves it.
std::vector<Nanoseconds> probe_times(const ProbeRequest& request);

}  // namespace longhaul::agents
