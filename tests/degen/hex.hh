// Messages as text: words of four bytes, four a line.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

namespace longhaul::degen::test {

inline std::string hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    text += fmt::format("{:02x}{}", static_cast<unsigned>(bytes[i]), i % 4 == 3 ? (i % 16 == 15 ? "\n" : " ") : "");
  return text;
}

}  // namespace longhaul::degen::test
