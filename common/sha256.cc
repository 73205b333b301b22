#include "common/sha256.hh"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <fstream>
#include <stdexcept>

#include "common/error.hh"

namespace longhaul {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 is not available in this OpenSSL");
}

Sha256& Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  return *this;
}

Sha256& Sha256::add_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_errno("opening " + path);
  std::string bytes(1 << 20, '\0');
  while (in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || in.gcount() > 0)
    add({bytes.data(), static_cast<std::size_t>(in.gcount())});
  return *this;
}

std::string Sha256::hex(unsigned digits) {
  unsigned char value[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context_.get(), value, &size);
  std::string out;
  for (unsigned i = 0; i < size && out.size() < digits; ++i) out += fmt::format("{:02x}", value[i]);
  return out;
}

std::string Sha256::base64() {
  unsigned char value[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context_.get(), value, &size);
  unsigned char text[2 * EVP_MAX_MD_SIZE];
  const auto length = EVP_EncodeBlock(text, value, static_cast<int>(size));
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(length)};
}

std::string short_digest(std::string_view text) {
  return Sha256{}.add(text).hex(16);
}

}  // namespace longhaul
