// Tokens: what somebody must have to be served, made of a word that both ends were given.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace longhaul {

/// The environment variable by which a program gets the word: unlike its arguments, other users cannot read it.
inline constexpr const char* kTokenVariable = "LONGHAUL_TOKEN";

inline constexpr std::size_t kTokenSize = 32;  ///< bytes

/// SHA-256 of the word, so that words of any length are alike on the wire. All zero: none was given.
using Token = std::array<char, kTokenSize>;

/// The token of a word; of an empty one: none.
Token token_of(std::string_view word);

/// True where `bytes` are that token. Takes as long wherever they differ, so that nobody finds a token byte by byte.
bool is_token(std::string_view bytes, const Token& token);

}  // namespace longhaul
