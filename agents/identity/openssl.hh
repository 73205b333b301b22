// Owners of OpenSSL's objects, and its errors as text. Private to this folder.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <memory>
#include <string>

#include "agents/identity/identity.hh"
#include "common/result.hh"

namespace longhaul::agents::openssl {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using RevocationList = std::unique_ptr<X509_CRL, Deleter<X509_CRL_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;
using Integer = std::unique_ptr<ASN1_INTEGER, Deleter<ASN1_INTEGER_free>>;
using Number = std::unique_ptr<BIGNUM, Deleter<BN_free>>;
using Time = std::unique_ptr<ASN1_TIME, Deleter<ASN1_TIME_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;

struct TextDeleter {
  void operator()(char* text) const { OPENSSL_free(text); }
};
using Text = std::unique_ptr<char, TextDeleter>;

/// The oldest error of this thread's queue as text; empties the queue.
std::string last_error();

/// Throws std::runtime_error with OpenSSL's reason when `ok` is false: out of memory and the like.
void require(bool ok, const char* attempted);

/// Reads the first object of a PEM file. Errors name the file; a missing file is one of them.
Result<Certificate> read_certificate(const std::filesystem::path& file);
Result<Key> read_key(const std::filesystem::path& file);
/// The public half of a key, in the PEM format's text.
Result<Key> public_key_from_pem(const std::string& text);
Result<RevocationList> read_revocation_list(const std::filesystem::path& file);

/// A certificate's dates.
Term term_of(const X509* certificate);

/// A certificate's number in hexadecimal, as `openssl x509 -serial` prints it.
std::string serial_text(const ASN1_INTEGER* serial);

/// The identity in a certificate's subjectAltName.
Result<Identity> identity_of(const X509* certificate);

}  // namespace longhaul::agents::openssl
