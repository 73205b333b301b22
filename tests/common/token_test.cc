#include "common/token.hh"

#include <gtest/gtest.h>

#include <string>

namespace longhaul {
namespace {

std::string hex(const Token& token) {
  std::string text;
  for (const char c : token) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[c & 0xf];
  }
  return text;
}

// FIPS 180-4's example.
TEST(Token, IsSha256OfItsWord) {
  EXPECT_EQ(hex(token_of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(token_of(""), Token{});
}

TEST(Token, IsItselfAndNothingElse) {
  const auto token = token_of("a word");
  std::string bytes{token.data(), token.size()};
  EXPECT_TRUE(is_token(bytes, token));
  EXPECT_FALSE(is_token(bytes + "x", token));
  EXPECT_FALSE(is_token(bytes.substr(1), token));
  EXPECT_FALSE(is_token("", token));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto wrong = bytes;
    wrong[i] = static_cast<char>(wrong[i] ^ 1);
    EXPECT_FALSE(is_token(wrong, token)) << i;
  }
}

}  // namespace
}  // namespace longhaul
