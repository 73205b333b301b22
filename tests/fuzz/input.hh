// What the fuzz targets share: an input as text or bytes, and an oracle that ends the process.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace longhaul::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

/// Ends the process where an oracle does not hold: libFuzzer keeps the input, a replay fails.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "does not hold: {}\n", what);
  std::abort();
}

/// What is accepted reads back the same once it is written. `parse` takes text, `print` gives text.
template <typename Parse, typename Print>
void reads_back(std::string_view text, Parse parse, Print print) {
  const auto once = parse(text);
  if (!once) return;
  const std::string written = print(*once);
  const auto twice = parse(written);
  require(twice.has_value(), "what was written is read");
  require(print(*twice) == written, "what was read again is written the same");
}

}  // namespace longhaul::fuzz
