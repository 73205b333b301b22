// Sends a controller's probes from this node.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "agents/protocol/messages.hh"
#include "common/result.hh"

namespace longhaul::agents {

/// Sends `request.count` probes at probe_times (what is late shifts the rest), waits for the last ones and returns the
/// round trips. Ends early when nobody holds `wanted` any more. Throws std::system_error when the
/// socket is refused.
boost::asio::awaitable<Result<ProbeResult>> send_probes(ProbeRequest request, std::weak_ptr<void> wanted);

}  // namespace longhaul::agents
