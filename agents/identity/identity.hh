// The holder of a certificate: a role and a name.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <string_view>

#include "agents/identity/expiry.hh"
#include "common/result.hh"

namespace longhaul::agents {

enum class PeerRole { controller, agent };
BOOST_DESCRIBE_ENUM(PeerRole, controller, agent)

/// In the certificate as the URI subjectAltName "urn:longhaul:agent:NAME" (and, for people, as OU and CN).
struct Identity {
  PeerRole role = PeerRole::agent;
  std::string name;
  std::string serial = {};  ///< of the certificate that says so, hexadecimal; empty: it came from none
  Term term = {};           ///< of that certificate
  /// The same holder, by whichever certificate.
  bool operator==(const Identity& other) const { return role == other.role && name == other.name; }
};

/// "controller" or "agent".
std::string_view word(PeerRole role);

std::string to_uri(const Identity& identity);
/// Refuses what to_uri cannot have made.
Result<Identity> identity_from_uri(std::string_view uri);
/// 1 to 63 letters, digits, '.', '-', '_', and no leading '.' or '-'.
Result<void> check_name(std::string_view name);

/// Is the peer who it must be? `name` empty: any. The error says who it is instead.
Result<void> check_identity(const Identity& peer, PeerRole role, std::string_view name = {});

}  // namespace longhaul::agents
