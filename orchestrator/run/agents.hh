// The real nodes: agents, reached over TLS.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agents/identity/credentials.hh"
#include "orchestrator/run/control.hh"

namespace longhaul::orchestrator {

/// The controller's credentials for a node's agent.
using CredentialsOf = std::function<agents::Credentials(const std::string& node)>;

/// Dials with those credentials. `hopeless` says why waiting for a node is pointless; may be empty.
std::unique_ptr<Dialer> make_agent_dialer(CredentialsOf credentials, std::function<std::string()> hopeless);

}  // namespace longhaul::orchestrator
