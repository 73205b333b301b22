#include "agents/identity/identity.hh"

#include <algorithm>

namespace longhaul::agents {
namespace {

constexpr std::string_view kPrefix = "urn:longhaul:";

}  // namespace

std::string_view word(PeerRole role) {
  return role == PeerRole::controller ? "controller" : "agent";
}

std::string to_uri(const Identity& identity) {
  return fmt::format("{}{}:{}", kPrefix, word(identity.role), identity.name);
}

Result<Identity> identity_from_uri(std::string_view uri) {
  if (uri.starts_with(kPrefix)) {
    const auto rest = uri.substr(kPrefix.size());
    for (const auto role : {PeerRole::controller, PeerRole::agent}) {
      const auto start = fmt::format("{}:", word(role));
      if (!rest.starts_with(start)) continue;
      const auto name = rest.substr(start.size());
      if (const auto ok = check_name(name); !ok) return tl::unexpected(ok.error());
      return Identity{.role = role, .name = std::string{name}};
    }
  }
  return refuse("expected {}agent:NAME or {}controller:NAME, got '{}'", kPrefix, kPrefix, uri.substr(0, 120));
}

Result<void> check_name(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= 63 && name.front() != '.' && name.front() != '-' &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                              c == '-' || c == '_';
                     });
  if (!plain)
    return refuse(
        "expected a name of 1 to 63 letters, digits, '.', '-' or '_' that starts with none of '.' and '-', got '{}'",
        name.substr(0, 80));
  return {};
}

Result<void> check_identity(const Identity& peer, PeerRole role, std::string_view name) {
  if (peer.role != role)
    return fail("expected a certificate for {} {}, got one for {} '{}'", role == PeerRole::agent ? "an" : "a",
                word(role), word(peer.role), peer.name);
  if (!name.empty() && peer.name != name)
    return fail("expected the certificate of {} '{}', got that of '{}'", word(role), name, peer.name);
  return {};
}

}  // namespace longhaul::agents
