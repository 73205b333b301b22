// The testbed's own certificate authority: who may be an agent, who a controller. Behind `longhaul pki
// init|issue|revoke`.
//
// A directory holds ca.pem, ca.key, crl.pem (always there, perhaps empty) and what was issued: <role>-<name>.pem and
// .key are in use, issued/<serial>.pem is every certificate that there ever was: one that was replaced can be revoked
// still. Keys are ECDSA P-256, files of keys have mode 0600. Whatever changes a directory locks it (flock(2) on .lock)
// and waits for others that do.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
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
  std::string serial;    ///< hexadecimal
  std::string replaced;  ///< serial of the certificate that had its place, if that is in force still; else empty
};

/// Issues a certificate with a new key: <directory>/<role>-<name>.pem and .key. An existing pair is refused unless
/// `replace`; the certificate that is replaced stays valid until it is revoked. The name is 1 to 63 letters, digits,
/// '.',
/// '-', '_'.
Result<IssuedFiles> pki_issue(const std::filesystem::path& directory, const Identity& identity, Validity validity = {},
                              bool replace = false);

/// A key in PEM format: whole, and the half that everybody may see (SubjectPublicKeyInfo, RFC 5280).
struct KeyPair {
  std::string key;
  std::string public_key;
};
/// A new one, ECDSA P-256, in memory alone. Throws std::runtime_error.
KeyPair make_key_pair();

/// Issues a certificate for a key that somebody else has: only its public half is here. The directory keeps the
/// certificate under its number, so that it can be revoked, and puts nothing in use. Returns the PEM text. Refused: a
/// text that is no key, a key that is not ECDSA P-256.
Result<std::string> pki_certify(const std::filesystem::path& directory, const Identity& identity,
                                const std::string& public_key, Validity validity = {});

struct Revoked {
  std::string serial;
  std::optional<Identity> identity;  ///< empty: no certificate of this number is kept in the directory
};

/// Puts the certificate in `certificate_file` on the authority's revocation list (crl.pem). Peers that have the new
/// crl.pem beside their ca.pem refuse it from their next connection on. Revoking twice is no error.
Result<Revoked> pki_revoke(const std::filesystem::path& directory, const std::filesystem::path& certificate_file);
/// The same by its number, 32 hexadecimal digits, whether its file is there or not: a list of revoked certificates is
/// one of numbers.
Result<Revoked> pki_revoke_serial(const std::filesystem::path& directory, const std::string& serial);

struct IssuedCertificate {
  std::filesystem::path file;
  Identity identity;     ///< with serial and term
  bool current = false;  ///< it is the one that its holder should have; others were replaced
  bool revoked = false;
};
/// All certificates of the directory, by role and name; of one holder the current one first.
Result<std::vector<IssuedCertificate>> pki_list(const std::filesystem::path& directory);
/// The authority's own dates.
Result<Term> pki_term(const std::filesystem::path& directory);

}  // namespace longhaul::agents
