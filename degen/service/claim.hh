// An interface is one degen's at a time: a name in the network namespace that goes with the processes that hold it.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/fd.hh"
#include "common/result.hh"

namespace longhaul::degen {

/// Calls `attempt` until it says true, for so long at the most, and once at the least.
bool soon(std::chrono::milliseconds patience, const std::function<bool()>& attempt);

/// An abstract unix socket (unix(7); they belong to the network namespace, as interfaces do) of the interface's name.
/// Another process may inherit it, which keeps the claim. Refuses when it is claimed still after `patience`. Throws
/// std::system_error.
Result<OwnFd> claim(const std::string& interface, std::chrono::milliseconds patience = {});

/// No process has claimed it.
bool unclaimed(const std::string& interface);

}  // namespace longhaul::degen
