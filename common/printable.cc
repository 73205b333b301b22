#include "common/printable.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace longhaul {
namespace {

constexpr std::string_view kNextLine = "\n    ";

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: no UTF-8 (RFC 3629: no surrogates, nothing longer than it must be)
};

Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

bool obeyed(std::uint32_t code) {
  struct Range {
    std::uint32_t first, last;
  };
  // C0; DEL and C1; marks of direction; separators of lines and paragraphs, embeddings, overrides; isolates.
  constexpr std::array kObeyed{Range{0, 0x1f},        Range{0x7f, 0x9f},     Range{0x61c, 0x61c},
                               Range{0x200e, 0x200f}, Range{0x2028, 0x202e}, Range{0x2066, 0x2069}};
  return std::any_of(kObeyed.begin(), kObeyed.end(),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

std::string escaped(std::string_view text, std::string_view line_feed) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto [code, bytes] = first_of(text);
    if (bytes == 0 || (code < 0x80 && code != '\n' && code != '\t' && obeyed(code)))
      fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<unsigned char>(text.front()));
    else if (code == '\n')
      shown += line_feed;
    else if (code != '\t' && obeyed(code))
      fmt::format_to(std::back_inserter(shown), "\\u{:04x}", code);
    else
      shown += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, kNextLine);
}

std::string printable_document(std::string_view text) {
  return escaped(text, "\n");
}

}  // namespace longhaul
