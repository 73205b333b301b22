// Texts of axes, word by word. Pure.
#pragma once

#include <algorithm>
#include <string_view>

namespace longhaul::degen {

/// Without `blank` at both ends.
inline std::string_view trim(std::string_view text, std::string_view blank = " ") {
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Takes the first word off; what is left begins with the next one.
inline std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const auto word = text.substr(0, std::min(text.find(' '), text.size()));
  text = trim(text.substr(word.size()));
  return word;
}

}  // namespace longhaul::degen
