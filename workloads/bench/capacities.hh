// Capacities of simulated caches, as a command line says them. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "common/result.hh"
#include "registration/cache/cache.hh"

namespace longhaul::workloads {

/// "8MiB": one. "1MiB..64MiB": from the one to the other, doubling; "1MiB..64MiB/4": in four steps for each doubling.
/// In whole pages, at least one; the last is always there.
Result<std::vector<registration::Capacity>> parse_capacities(std::string_view text);

}  // namespace longhaul::workloads
