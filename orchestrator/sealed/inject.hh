// Injects a fault into the machine in which this runs. Thin: what there is to inject is data in model/injection.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "common/result.hh"
#include "model/injection.hh"
#include "model/testbed.hh"

namespace longhaul::orchestrator {

/// Does it, and undoes it on `executor` once the fault has lasted as long as its spec says. An error: there is nothing
/// to hit (no such process at this moment), or this machine cannot do that.
Result<void> inject(const Injection& injection, const Testbed& testbed, const boost::asio::any_io_executor& executor);

}  // namespace longhaul::orchestrator
