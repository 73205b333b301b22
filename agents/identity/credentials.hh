// A program's certificate and key, and a TLS 1.3 context made of it.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "agents/identity/identity.hh"
#include "common/result.hh"

namespace longhaul::agents {

/// Paths of PEM files. A crl.pem beside the CA's file is honoured.
struct Credentials {
  std::string ca;
  std::string cert;
  std::string key;
  /// Whether a crl.pem was seen there: one that has gone since is an error, not an empty list. Copies share it.
  std::shared_ptr<std::atomic<bool>> listed = std::make_shared<std::atomic<bool>>(false);
};

struct SslContextDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using SslContext = std::unique_ptr<SSL_CTX, SslContextDeleter>;

enum class TlsSide { client, server };

/// TLS 1.3 only; both sides must present a certificate of this CA that is in force and not revoked; no session
/// resumption (a revoked peer must not come back by a ticket). Errors name the file and what is wrong with it; a list
/// that was there before and is gone is one of them.
Result<SslContext> make_ssl_context(const Credentials& credentials, TlsSide side);

/// Whom these credentials speak for. Errors name the file.
Result<Identity> own_identity(const Credentials& credentials);

/// Whom the verified peer's certificate names, after the handshake.
Result<Identity> peer_identity(const SSL* ssl);

/// Why the handshake's verification of the peer failed ("certificate revoked"); empty when it did not.
std::string verify_error(const SSL* ssl);

/// Changes when a file of the credentials does (its time or size): when to make a new context.
std::string fingerprint(const Credentials& credentials);

/// What to tell the operator of the credentials' dates, a line for each file whose certificate expires soon or has
/// expired, with the remedy. Errors name the file.
Result<std::vector<std::string>> expiry_warnings(const Credentials& credentials, WallTime now);

/// Says when a peer that was let in is not to be trusted any more: a connection would outlive its certificate by days.
class PeerWatch {
 public:
  PeerWatch(Credentials credentials, Identity peer) : credentials_(std::move(credentials)), peer_(std::move(peer)) {}

  /// "was revoked" or "has expired, on DATE"; empty: it stands. Reads crl.pem when a file of the credentials has
  /// changed, else costs some stat(2). A list that cannot be read (it is being written, or gone) is read again the next
  /// time; new peers are refused meanwhile.
  std::string objection(WallTime now = std::chrono::system_clock::now());

 private:
  bool revoked();

  Credentials credentials_;
  Identity peer_;
  std::string seen_;  ///< the files when the list was read
};

}  // namespace longhaul::agents
