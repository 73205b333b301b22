#include "agents/identity/openssl.hh"

#include <openssl/err.h>

#include <cerrno>
#include <ctime>
#include <stdexcept>

#include "common/log.hh"

namespace longhaul::agents::openssl {
namespace {

template <typename Owner, typename Read>
Result<Owner> read(const std::filesystem::path& file, const char* what, Read read_object) {
  const Bio bio{::BIO_new_file(file.c_str(), "r")};
  if (!bio) {
    const int error = errno;
    last_error();
    return refuse("{}: {}", file.string(), errno_text(error));
  }
  Owner object{read_object(bio.get())};
  if (!object) return refuse("{}: no {} in PEM format: {}", file.string(), what, last_error());
  return object;
}

WallTime time_of(const ASN1_TIME* time) {
  std::tm parts{};
  require(::ASN1_TIME_to_tm(time, &parts) == 1, "reading a certificate's date");
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

// Never asks a terminal: a key with a pass phrase is refused.
int no_pass_phrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

std::string last_error() {
  const auto code = ::ERR_get_error();
  ::ERR_clear_error();
  if (code == 0) return "no reason given";
  if (ERR_SYSTEM_ERROR(code)) return errno_text(ERR_GET_REASON(code));
  const char* reason = ::ERR_reason_error_string(code);
  return reason != nullptr ? reason : fmt::format("OpenSSL error {:#x}", code);
}

void require(bool ok, const char* attempted) {
  if (!ok) throw std::runtime_error(fmt::format("{}: {}", attempted, last_error()));
}

Result<Certificate> read_certificate(const std::filesystem::path& file) {
  return read<Certificate>(file, "certificate",
                           [](BIO* bio) { return ::PEM_read_bio_X509(bio, nullptr, no_pass_phrase, nullptr); });
}

Result<Key> read_key(const std::filesystem::path& file) {
  return read<Key>(file, "private key without a pass phrase",
                   [](BIO* bio) { return ::PEM_read_bio_PrivateKey(bio, nullptr, no_pass_phrase, nullptr); });
}

Result<Key> public_key_from_pem(const std::string& text) {
  const Bio bio{::BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
  require(bio != nullptr, "reading a key");
  Key key{::PEM_read_bio_PUBKEY(bio.get(), nullptr, no_pass_phrase, nullptr)};
  if (!key) return refuse("no public key in PEM format: {}", last_error());
  return key;
}

Result<RevocationList> read_revocation_list(const std::filesystem::path& file) {
  return read<RevocationList>(file, "revocation list",
                              [](BIO* bio) { return ::PEM_read_bio_X509_CRL(bio, nullptr, no_pass_phrase, nullptr); });
}

Term term_of(const X509* certificate) {
  return {.begin = time_of(::X509_get0_notBefore(certificate)), .end = time_of(::X509_get0_notAfter(certificate))};
}

std::string serial_text(const ASN1_INTEGER* serial) {
  const Number number{::ASN1_INTEGER_to_BN(serial, nullptr)};
  require(number != nullptr, "reading a serial number");
  const Text text{::BN_bn2hex(number.get())};
  require(text != nullptr, "reading a serial number");
  return text.get();
}

Result<Identity> identity_of(const X509* certificate) {
  const Names names{
      static_cast<GENERAL_NAMES*>(::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  if (names) {
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
      const auto* name = sk_GENERAL_NAME_value(names.get(), i);
      if (name->type != GEN_URI) continue;
      const auto* text = name->d.uniformResourceIdentifier;
      auto identity = identity_from_uri({reinterpret_cast<const char*>(::ASN1_STRING_get0_data(text)),
                                         static_cast<std::size_t>(::ASN1_STRING_length(text))});
      if (!identity) return identity;
      identity->serial = serial_text(::X509_get0_serialNumber(certificate));
      identity->term = term_of(certificate);
      return identity;
    }
  }
  return refuse("the certificate names no longhaul identity (issue it by `longhaul pki issue`)");
}

}  // namespace longhaul::agents::openssl
