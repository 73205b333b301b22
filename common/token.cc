#include "common/token.hh"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace longhaul {

static_assert(kTokenSize == SHA256_DIGEST_LENGTH);

Token token_of(std::string_view word) {
  Token token{};
  if (word.empty()) return token;
  ::SHA256(reinterpret_cast<const unsigned char*>(word.data()), word.size(),
           reinterpret_cast<unsigned char*>(token.data()));
  return token;
}

bool is_token(std::string_view bytes, const Token& token) {
  return bytes.size() == token.size() && ::CRYPTO_memcmp(bytes.data(), token.data(), token.size()) == 0;
}

}  // namespace longhaul
