// Processor use of both ends in the cells behind a verdict. Pure.
#pragma once

#include <string>
#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

/// By transport and end; what no record tells is left out.
std::vector<ProcessorUse> processors_of(const std::vector<Match>& matches);

/// "processors busy: RDMA client 100 % (polling 41 %), RDMA server 98 to 100 %, sockets client 63 %"
std::string spelt(const std::vector<ProcessorUse>& processors);

}  // namespace longhaul::results
