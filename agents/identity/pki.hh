// The testbed's own certificate authority: who may be an agent, who a controller. Behind `longhaul pki
// init|issue|revoke`.
//
// A directory holds ca.pem, ca.key, crl.pem (always there, perhaps empty) and what was issued: <role>-<name>.pem and
// .key. Keys are ECDSA P-256, files of keys have mode 0600.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "agents/identity/identity.hh"
#include "common/result.hh"

namespace longhaul::agents {

struct Validity {
  std::chrono::system_clock::time_point from = std::chrono::system_clock::now();  ///< an hour of clock error is granted
  std::chrono::seconds lifetime = std::chrono::hours{24 * 365};
};

/// Makes the directory (mode 0700), the authority and an empty revocation list. Refused where one exists already.
/// Throws std::system_error when files cannot be written. So do the others.
Result<void> pki_init(const std::filesystem::path& directory, const std::string& name = "longhaul testbed",
                      Validity validity = {.lifetime = std::chrono::hours{24 * 3650}});

struct IssuedFiles {
  std::filesystem::path ca;
  std::filesystem::path cert;
  std::filesystem::path key;
};

/// Issues a certificate with a new key: <directory>/<role>-<name>.pem and .key. An existing pair is refused unless
/// `replace`. The name is 1 to 63 letters, digits, '.', '-', '_'.
Result<IssuedFiles> pki_issue(const std::filesystem::path& directory, const Identity& identity, Validity validity = {},
                              bool replace = false);

/// Puts the certificate in `certificate_file` on the authority's revocation list (crl.pem). Peers that have the new
/// crl.pem beside their ca.pem refuse it from their next connection on. Revoking twice is no error.
Result<void> pki_revoke(const std::filesystem::path& directory, const std::filesystem::path& certificate_file);

struct IssuedCertificate {
  std::filesystem::path file;
  Identity identity;
  std::string expires;  ///< ISO 8601, UTC
  bool expired = false;
  bool revoked = false;
};
/// All certificates in the directory, sorted by file name.
Result<std::vector<IssuedCertificate>> pki_list(const std::filesystem::path& directory);

}  // namespace longhaul::agents
