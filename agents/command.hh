// From a controller's request to the command line of longhaul-bench. Pure: this is the whitelist.
#pragma once

#include <string>
#include <vector>

#include "agents/protocol/messages.hh"
#include "common/result.hh"
#include "model/parameter.hh"

namespace longhaul::agents {

/// The arguments that run what `request` asks for with the program `bench`. Refuses a workload that is not in
/// `catalog`, a role that it does not have, and parameters that its spec does not admit. Nothing of the request's text
/// gets into the arguments without having been checked; every option is one word "--name=value".
Result<std::vector<std::string>> bench_command(const std::string& bench, const StartRequest& request,
                                               const std::vector<WorkloadSpec>& catalog);

}  // namespace longhaul::agents
