// SHA-256 (FIPS 180-4), by OpenSSL.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace longhaul {

/// Of what is added, in that order. Move-only. Throws std::runtime_error where this OpenSSL has none.
class Sha256 {
 public:
  Sha256();
  Sha256& add(std::string_view bytes);
  /// Throws std::system_error when the file cannot be opened.
  Sha256& add_file(const std::string& path);
  /// All 64 hexadecimal digits, or the first `digits` (even). Once.
  std::string hex(unsigned digits = 64);
  /// All of it in base64 (RFC 4648), 44 characters. Once.
  std::string base64();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// The first 16 hexadecimal digits: enough to tell things apart that nobody forges.
std::string short_digest(std::string_view text);

}  // namespace longhaul
