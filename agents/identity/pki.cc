#include "agents/identity/pki.hh"

#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <map>
#include <tuple>

#include "agents/identity/openssl.hh"
#include "common/error.hh"
#include "common/fd.hh"
#include "common/replace_file.hh"

namespace longhaul::agents {
namespace {

using namespace openssl;
namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

constexpr std::chrono::hours kClockError{1};
constexpr std::size_t kSerialBytes = 16;

Key new_key() {
  Key key{EVP_EC_gen("P-256")};
  require(key != nullptr, "making a key");
  return key;
}

void set_time(ASN1_TIME* field, Clock::time_point time) {
  require(::ASN1_TIME_set(field, Clock::to_time_t(time)) != nullptr, "writing a date");
}

Certificate new_certificate(EVP_PKEY* key, const Validity& validity) {
  Certificate certificate{::X509_new()};
  require(certificate != nullptr, "making a certificate");
  ::X509_set_version(certificate.get(), X509_VERSION_3);
  // 127 random bits: no two certificates of an authority share a number, without a file that counts.
  std::array<unsigned char, kSerialBytes> serial{};
  require(::RAND_bytes(serial.data(), static_cast<int>(serial.size())) == 1, "drawing a serial number");
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7f) | 0x40);
  const Number number{::BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr)};
  require(
      number != nullptr && ::BN_to_ASN1_INTEGER(number.get(), ::X509_get_serialNumber(certificate.get())) != nullptr,
      "writing a serial number");
  set_time(::X509_getm_notBefore(certificate.get()), validity.from - kClockError);
  set_time(::X509_getm_notAfter(certificate.get()), validity.from + validity.lifetime);
  require(::X509_set_pubkey(certificate.get(), key) == 1, "writing a public key");
  return certificate;
}

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  require(::X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                       reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0) == 1,
          "writing a certificate's subject");
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension{::X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str())};
  require(extension != nullptr && ::X509_add_ext(certificate, extension.get(), -1) == 1,
          "writing a certificate's extension");
}

template <typename Write>
std::string to_pem(Write write) {
  const Bio bio{::BIO_new(::BIO_s_mem())};
  require(bio != nullptr && write(bio.get()) == 1, "encoding PEM");
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string key_pem(EVP_PKEY* key) {
  return to_pem(
      [key](BIO* bio) { return ::PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

std::string certificate_pem(X509* certificate) {
  return to_pem([certificate](BIO* bio) { return ::PEM_write_bio_X509(bio, certificate); });
}

Result<void> write_key(const fs::path& file, EVP_PKEY* key) {
  return replace_file(file, key_pem(key), 0600);  // nobody else ever reads a key
}

Result<void> write_certificate(const fs::path& file, X509* certificate) {
  return replace_file(file, certificate_pem(certificate), 0644);
}

/// Signs the list anew, one number higher, and replaces the file.
Result<void> publish(const fs::path& file, X509_CRL* list, X509* ca, EVP_PKEY* ca_key) {
  long number = 1;
  if (const int at = ::X509_CRL_get_ext_by_NID(list, NID_crl_number, -1); at >= 0) {
    const Integer old{static_cast<ASN1_INTEGER*>(::X509_CRL_get_ext_d2i(list, NID_crl_number, nullptr, nullptr))};
    if (old) number = ::ASN1_INTEGER_get(old.get()) + 1;
    ::X509_EXTENSION_free(::X509_CRL_delete_ext(list, at));
  }
  const Integer next{::ASN1_INTEGER_new()};
  require(next != nullptr && ::ASN1_INTEGER_set(next.get(), number) == 1 &&
              ::X509_CRL_add1_ext_i2d(list, NID_crl_number, next.get(), 0, 0) == 1,
          "numbering the revocation list");
  const Time now{::ASN1_TIME_set(nullptr, Clock::to_time_t(Clock::now() - kClockError))};
  require(now != nullptr && ::X509_CRL_set1_lastUpdate(list, now.get()) == 1, "dating the revocation list");
  // It stays in force as long as its authority: there is no service that would renew it.
  require(::X509_CRL_set1_nextUpdate(list, ::X509_get0_notAfter(ca)) == 1, "dating the revocation list");
  ::X509_CRL_sort(list);
  require(::X509_CRL_sign(list, ca_key, ::EVP_sha256()) > 0, "signing the revocation list");
  return replace_file(file, to_pem([list](BIO* bio) { return ::PEM_write_bio_X509_CRL(bio, list); }), 0644);
}

struct Authority {
  Certificate certificate;
  Key key;
};

Result<Authority> open_authority(const fs::path& directory) {
  auto certificate = read_certificate(directory / "ca.pem");
  if (!certificate)
    return refuse("{} (make an authority by `longhaul pki init {}`)", certificate.error().message, directory.string());
  auto key = read_key(directory / "ca.key");
  if (!key) return tl::unexpected(key.error());
  if (::X509_check_private_key(certificate->get(), key->get()) != 1) {
    last_error();
    return refuse("{}: the key does not belong to ca.pem", (directory / "ca.key").string());
  }
  return Authority{std::move(*certificate), std::move(*key)};
}

/// Two commands at once would publish two lists, each without the other's revocation.
OwnFd lock(const fs::path& directory) {
  const auto file = directory / ".lock";
  OwnFd fd{check(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), "open " + file.string())};
  while (::flock(fd.get(), LOCK_EX) != 0)
    if (errno != EINTR) throw_errno("lock " + file.string());
  return fd;
}

fs::path kept_file(const fs::path& directory, const std::string& serial) {
  return directory / "issued" / (serial + ".pem");
}

/// Files it under its number, where it stays when its name gets another one.
Result<void> keep(const fs::path& directory, X509* certificate) {
  const auto file = kept_file(directory, serial_text(::X509_get0_serialNumber(certificate)));
  fs::create_directory(file.parent_path());
  return write_certificate(file, certificate);
}

/// A certificate for the holder of `key`, who may not be here: its public half is enough. It is kept before anybody can
/// use it: what was issued can be revoked, whatever becomes of this process. The lock is held.
Result<Certificate> issue(const fs::path& directory, const Authority& authority, const Identity& identity,
                          EVP_PKEY* key, const Validity& validity) {
  auto certificate = new_certificate(key, validity);
  auto* subject = ::X509_get_subject_name(certificate.get());
  add_name(subject, "O", "longhaul");
  add_name(subject, "OU", std::string{word(identity.role)});
  add_name(subject, "CN", identity.name);
  X509* ca = authority.certificate.get();
  require(::X509_set_issuer_name(certificate.get(), ::X509_get_subject_name(ca)) == 1, "naming the issuer");
  add_extension(certificate.get(), ca, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), ca, NID_key_usage, "critical,digitalSignature");
  // An agent only ever accepts connections, a controller only ever makes them: TLS itself refuses the other use.
  add_extension(certificate.get(), ca, NID_ext_key_usage,
                identity.role == PeerRole::agent ? "serverAuth" : "clientAuth");
  add_extension(certificate.get(), ca, NID_subject_alt_name, "URI:" + to_uri(identity));
  add_extension(certificate.get(), ca, NID_authority_key_identifier, "keyid:always");
  require(::X509_sign(certificate.get(), authority.key.get(), ::EVP_sha256()) > 0, "signing a certificate");
  if (auto done = keep(directory, certificate.get()); !done) return tl::unexpected(done.error());
  return certificate;
}

/// The public half of a P-256 key. Other kinds and curves are refused: what signs with them is not tried here.
Result<Key> read_public_key(const std::string& pem) {
  auto key = public_key_from_pem(pem);
  if (!key) return key;
  std::array<char, 64> curve{};
  if (::EVP_PKEY_is_a(key->get(), "EC") != 1 ||
      ::EVP_PKEY_get_group_name(key->get(), curve.data(), curve.size(), nullptr) != 1 ||
      std::string_view{curve.data()} != "prime256v1") {
    last_error();
    return refuse("a public key of another kind than ECDSA P-256");
  }
  return key;
}

bool on_list(X509_CRL* list, const ASN1_INTEGER* serial) {
  X509_REVOKED* there = nullptr;
  return ::X509_CRL_get0_by_serial(list, &there, serial) != 0;
}

/// The lock is held.
Result<void> add_to_list(const fs::path& directory, const Authority& authority, ASN1_INTEGER* serial) {
  auto list = read_revocation_list(directory / "crl.pem");
  if (!list) return tl::unexpected(list.error());
  if (on_list(list->get(), serial)) return {};
  std::unique_ptr<X509_REVOKED, Deleter<X509_REVOKED_free>> entry{::X509_REVOKED_new()};
  const Time now{::ASN1_TIME_set(nullptr, Clock::to_time_t(Clock::now()))};
  require(entry != nullptr && now != nullptr && ::X509_REVOKED_set_serialNumber(entry.get(), serial) == 1 &&
              ::X509_REVOKED_set_revocationDate(entry.get(), now.get()) == 1 &&
              ::X509_CRL_add0_revoked(list->get(), entry.get()) == 1,
          "revoking a certificate");
  (void)entry.release();  // the list owns it now
  return publish(directory / "crl.pem", list->get(), authority.certificate.get(), authority.key.get());
}

/// What has this name so far is kept, whoever issued it; its number, if it is in force.
Result<std::string> keep_former(const fs::path& directory, const fs::path& file) {
  if (!fs::exists(file)) return std::string{};
  const auto former = read_certificate(file);
  if (!former) return std::string{};  // half a pair, of a command that was interrupted
  if (auto kept = keep(directory, former->get()); !kept) return tl::unexpected(kept.error());
  auto list = read_revocation_list(directory / "crl.pem");
  if (!list) return tl::unexpected(list.error());
  const auto* serial = ::X509_get0_serialNumber(former->get());
  const bool over = term_of(former->get()).end <= Clock::now() || on_list(list->get(), serial);
  return over ? std::string{} : serial_text(serial);
}

Result<Integer> parse_serial(const std::string& text) {
  const bool digits = std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!digits || text.size() != 2 * kSerialBytes)
    return refuse(
        "expected a serial number of {} hexadecimal digits, as `longhaul pki list` and audit logs have it, got '{}'",
        2 * kSerialBytes, text.substr(0, 80));
  BIGNUM* read = nullptr;
  ::BN_hex2bn(&read, text.c_str());
  const Number number{read};
  Integer serial{number ? ::BN_to_ASN1_INTEGER(number.get(), nullptr) : nullptr};
  require(serial != nullptr, "reading a serial number");
  return serial;
}

}  // namespace

Result<void> pki_init(const fs::path& directory, const std::string& name, Validity validity) {
  fs::create_directories(directory);
  const auto locked = lock(directory);
  if (fs::exists(directory / "ca.pem") || fs::exists(directory / "ca.key"))
    return refuse("{}: has an authority already (remove the directory to make another; its certificates then are void)",
                  directory.string());
  fs::permissions(directory, fs::perms::owner_all);
  const auto key = new_key();
  const auto certificate = new_certificate(key.get(), validity);
  auto* subject = ::X509_get_subject_name(certificate.get());
  add_name(subject, "O", "longhaul");
  add_name(subject, "CN", name);
  require(::X509_set_issuer_name(certificate.get(), subject) == 1, "naming the authority");
  add_extension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(certificate.get(), certificate.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash");
  require(::X509_sign(certificate.get(), key.get(), ::EVP_sha256()) > 0, "signing the authority's certificate");

  const RevocationList list{::X509_CRL_new()};
  require(list != nullptr && ::X509_CRL_set_version(list.get(), X509_CRL_VERSION_2) == 1 &&
              ::X509_CRL_set_issuer_name(list.get(), subject) == 1,
          "making a revocation list");
  if (auto done = publish(directory / "crl.pem", list.get(), certificate.get(), key.get()); !done) return done;
  if (auto done = write_key(directory / "ca.key", key.get()); !done) return done;
  return write_certificate(directory / "ca.pem", certificate.get());
}

Result<IssuedFiles> pki_issue(const fs::path& directory, const Identity& identity, Validity validity, bool replace) {
  if (const auto ok = check_name(identity.name); !ok) return tl::unexpected(ok.error());
  auto authority = open_authority(directory);
  if (!authority) return tl::unexpected(authority.error());
  const auto locked = lock(directory);
  const auto base = fmt::format("{}-{}", word(identity.role), identity.name);
  IssuedFiles files{.ca = directory / "ca.pem",
                    .cert = directory / (base + ".pem"),
                    .key = directory / (base + ".key"),
                    .serial = {},
                    .replaced = {}};
  if (!replace && (fs::exists(files.cert) || fs::exists(files.key)))
    return refuse("{}: exists already (revoke it and pass --replace to issue another)", files.cert.string());
  auto replaced = keep_former(directory, files.cert);
  if (!replaced) return tl::unexpected(replaced.error());
  files.replaced = std::move(*replaced);

  const auto key = new_key();
  const auto certificate = issue(directory, *authority, identity, key.get(), validity);
  if (!certificate) return tl::unexpected(certificate.error());
  files.serial = serial_text(::X509_get0_serialNumber(certificate->get()));
  if (auto done = write_key(files.key, key.get()); !done) return tl::unexpected(done.error());
  if (auto done = write_certificate(files.cert, certificate->get()); !done) return tl::unexpected(done.error());
  return files;
}

KeyPair make_key_pair() {
  const auto key = new_key();
  return {.key = key_pem(key.get()),
          .public_key = to_pem([&](BIO* bio) { return ::PEM_write_bio_PUBKEY(bio, key.get()); })};
}

Result<std::string> pki_certify(const fs::path& directory, const Identity& identity, const std::string& public_key,
                                Validity validity) {
  if (const auto ok = check_name(identity.name); !ok) return tl::unexpected(ok.error());
  const auto key = read_public_key(public_key);
  if (!key) return tl::unexpected(key.error());
  auto authority = open_authority(directory);
  if (!authority) return tl::unexpected(authority.error());
  const auto locked = lock(directory);
  const auto certificate = issue(directory, *authority, identity, key->get(), validity);
  if (!certificate) return tl::unexpected(certificate.error());
  return certificate_pem(certificate->get());
}

Result<Revoked> pki_revoke(const fs::path& directory, const fs::path& certificate_file) {
  auto authority = open_authority(directory);
  if (!authority) return tl::unexpected(authority.error());
  auto certificate = read_certificate(certificate_file);
  if (!certificate) return tl::unexpected(certificate.error());
  if (::X509_verify(certificate->get(), ::X509_get0_pubkey(authority->certificate.get())) != 1) {
    last_error();
    return refuse("{}: was not issued by {}", certificate_file.string(), (directory / "ca.pem").string());
  }
  const auto locked = lock(directory);
  auto* serial = ::X509_get_serialNumber(certificate->get());
  if (auto done = add_to_list(directory, *authority, serial); !done) return tl::unexpected(done.error());
  Revoked revoked{.serial = serial_text(serial), .identity = {}};
  if (auto identity = identity_of(certificate->get())) revoked.identity = std::move(*identity);
  return revoked;
}

Result<Revoked> pki_revoke_serial(const fs::path& directory, const std::string& serial) {
  auto authority = open_authority(directory);
  if (!authority) return tl::unexpected(authority.error());
  const auto number = parse_serial(serial);
  if (!number) return tl::unexpected(number.error());
  const auto locked = lock(directory);
  if (auto done = add_to_list(directory, *authority, number->get()); !done) return tl::unexpected(done.error());
  Revoked revoked{.serial = serial_text(number->get()), .identity = {}};
  const auto issued = pki_list(directory);
  if (!issued) return tl::unexpected(issued.error());
  for (const auto& one : *issued)
    if (one.identity.serial == revoked.serial) revoked.identity = one.identity;
  return revoked;
}

Result<std::vector<IssuedCertificate>> pki_list(const fs::path& directory) {
  auto list = read_revocation_list(directory / "crl.pem");
  if (!list)
    return refuse("{} (make an authority by `longhaul pki init {}`)", list.error().message, directory.string());
  std::map<std::string, IssuedCertificate> found;  // by serial
  const auto read = [&](const fs::path& folder, bool current) -> Result<void> {
    std::error_code none;  // a directory from before certificates were kept
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      const auto name = entry.path().filename().string();
      if (!name.ends_with(".pem") || name == "ca.pem" || name == "crl.pem") continue;
      auto certificate = read_certificate(entry.path());
      if (!certificate) return tl::unexpected(certificate.error());
      auto identity = identity_of(certificate->get());
      if (!identity) return refuse("{}: {}", entry.path().string(), identity.error().message);
      const auto serial = identity->serial;
      found.insert_or_assign(
          serial, IssuedCertificate{.file = entry.path(),
                                    .identity = std::move(*identity),
                                    .current = current,
                                    .revoked = on_list(list->get(), ::X509_get0_serialNumber(certificate->get()))});
    }
    return {};
  };
  if (auto done = read(directory / "issued", false); !done) return tl::unexpected(done.error());
  if (auto done = read(directory, true); !done) return tl::unexpected(done.error());
  std::vector<IssuedCertificate> issued;
  for (auto& [serial, one] : found) issued.push_back(std::move(one));
  const auto order = [](const IssuedCertificate& one) {
    return std::tuple{to_uri(one.identity), !one.current, one.identity.term.begin, one.identity.serial};
  };
  std::sort(issued.begin(), issued.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return issued;
}

Result<Term> pki_term(const fs::path& directory) {
  auto certificate = read_certificate(directory / "ca.pem");
  if (!certificate) return tl::unexpected(certificate.error());
  return term_of(certificate->get());
}

}  // namespace longhaul::agents
