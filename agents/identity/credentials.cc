#include "agents/identity/credentials.hh"

#include <openssl/err.h>
#include <sys/stat.h>

#include "agents/identity/openssl.hh"
#include "common/log.hh"

namespace longhaul::agents {
namespace {

using namespace openssl;
namespace fs = std::filesystem;

fs::path crl_file(const Credentials& credentials) {
  return fs::path{credentials.ca}.replace_filename("crl.pem");
}

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error) || error;
}

/// A crl.pem that is there and unreadable is an error, and so is one that has gone: passing over it would admit those
/// whom it revokes.
Result<void> add_revocations(X509_STORE* store, const Credentials& credentials) {
  const auto file = crl_file(credentials);
  if (is_there(file)) {
    *credentials.listed = true;
  } else {
    if (!*credentials.listed) return {};
    return refuse(
        "{}: the list of revoked certificates was there and is gone, so nobody can be trusted: copy the authority's "
        "crl.pem there (it is beside the authority's ca.pem)",
        file.string());
  }
  auto list = read_revocation_list(file);
  if (!list) return tl::unexpected(list.error());
  require(::X509_STORE_add_crl(store, list->get()) == 1, "taking the revocation list");
  ::X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
  return {};
}

Result<void> check_key_mode(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return refuse("{}: {}", file, errno_text(errno));
  if ((status.st_mode & 077) != 0)
    return refuse("{}: others than its owner may use this key (mode {:04o}): chmod 600 it", file,
                  status.st_mode & 07777);
  return {};
}

}  // namespace

Result<SslContext> make_ssl_context(const Credentials& credentials, TlsSide side) {
  auto ca = read_certificate(credentials.ca);
  if (!ca) return tl::unexpected(ca.error());
  auto certificate = read_certificate(credentials.cert);
  if (!certificate) return tl::unexpected(certificate.error());
  if (const auto ok = check_key_mode(credentials.key); !ok) return tl::unexpected(ok.error());
  auto key = read_key(credentials.key);
  if (!key) return tl::unexpected(key.error());

  SslContext context{::SSL_CTX_new(side == TlsSide::server ? ::TLS_server_method() : ::TLS_client_method())};
  require(context != nullptr, "making a TLS context");
  require(SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) == 1, "asking for TLS 1.3");
  require(::SSL_CTX_use_certificate(context.get(), certificate->get()) == 1, "taking the certificate");
  if (::SSL_CTX_use_PrivateKey(context.get(), key->get()) != 1) {
    last_error();
    return refuse("{}: the key does not belong to {}", credentials.key, credentials.cert);
  }
  auto* store = ::SSL_CTX_get_cert_store(context.get());
  require(::X509_STORE_add_cert(store, ca->get()) == 1, "taking the authority's certificate");
  if (const auto ok = add_revocations(store, credentials); !ok) return tl::unexpected(ok.error());
  ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  ::SSL_CTX_set_verify_depth(context.get(), 1);
  ::SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  require(::SSL_CTX_set_num_tickets(context.get(), 0) == 1, "switching session tickets off");
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  return context;
}

Result<Identity> own_identity(const Credentials& credentials) {
  auto certificate = read_certificate(credentials.cert);
  if (!certificate) return tl::unexpected(certificate.error());
  auto identity = identity_of(certificate->get());
  if (!identity) return refuse("{}: {}", credentials.cert, identity.error().message);
  return identity;
}

Result<Identity> peer_identity(const SSL* ssl) {
  const Certificate certificate{::SSL_get1_peer_certificate(ssl)};
  if (!certificate) return fail("the peer showed no certificate");
  return identity_of(certificate.get());
}

std::string verify_error(const SSL* ssl) {
  const auto result = ::SSL_get_verify_result(ssl);
  return result == X509_V_OK ? "" : ::X509_verify_cert_error_string(result);
}

Result<std::vector<std::string>> expiry_warnings(const Credentials& credentials, WallTime now) {
  std::vector<std::string> lines;
  const auto look = [&](const std::string& file, const std::string& remedy) -> Result<void> {
    auto certificate = read_certificate(file);
    if (!certificate) return tl::unexpected(certificate.error());
    if (const auto notice = expiry_notice(term_of(certificate->get()), now); !notice.empty())
      lines.push_back(fmt::format("{}: this certificate {}: {}", file, notice, remedy));
    return {};
  };
  const auto own = own_identity(credentials);
  if (!own) return tl::unexpected(own.error());
  if (auto ok =
          look(credentials.cert, fmt::format("longhaul pki issue {} {} --replace, and copy certificate and key here",
                                             word(own->role), own->name));
      !ok)
    return tl::unexpected(ok.error());
  if (auto ok = look(credentials.ca, "make another authority by longhaul pki init, and issue all certificates anew");
      !ok)
    return tl::unexpected(ok.error());
  return lines;
}

std::string PeerWatch::objection(WallTime now) {
  if (revoked()) return "was revoked";
  return now >= peer_.term.end ? expiry_notice(peer_.term, now) : "";
}

bool PeerWatch::revoked() {
  auto now = fingerprint(credentials_);
  if (now == seen_) return false;
  const auto file = crl_file(credentials_);
  const bool there = is_there(file);
  if (!there && *credentials_.listed) return false;
  if (there) {
    auto list = read_revocation_list(file);
    if (!list) return false;
    auto* const entries = ::X509_CRL_get_REVOKED(list->get());
    for (int i = 0; i < sk_X509_REVOKED_num(entries); ++i)
      if (serial_text(::X509_REVOKED_get0_serialNumber(sk_X509_REVOKED_value(entries, i))) == peer_.serial) return true;
  }
  seen_ = std::move(now);
  return false;
}

std::string fingerprint(const Credentials& credentials) {
  std::string text;
  for (const auto& file : {credentials.ca, credentials.cert, credentials.key, crl_file(credentials).string()}) {
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0)
      text += fmt::format("{}:{}.{}:{};", status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size);
    else
      text += "-;";
  }
  return text;
}

}  // namespace longhaul::agents
