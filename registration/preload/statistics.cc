#include "registration/preload/statistics.hh"

#include <fmt/format.h>

namespace longhaul::registration {
namespace {

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace

std::string to_text(const Statistics& s, const std::string& off) {
  const auto asked = s.hits + s.misses;
  auto text = fmt::format(
      "liblonghaul-cache: {} hits of {} registrations that may be kept ({:.1f} %), {} regions kept ({} KiB); {} "
      "evicted, "
      "{} invalidated, {} flushed, {} times out of memory\n",
      s.hits, asked, asked == 0 ? 0.0 : 100 * static_cast<double>(s.hits) / static_cast<double>(asked), s.regions,
      s.bytes / 1024, s.evicted, s.invalidated, s.flushed, s.out_of_memory);
  std::string by;
  for (std::size_t i = 1; i < kAdmissions; ++i)
    if (s.passed_by[i] > 0)
      by += fmt::format("{}{} {}", by.empty() ? "" : ", ", word(static_cast<Admission>(i)), s.passed_by[i]);
  if (!by.empty()) text += fmt::format("liblonghaul-cache: passed by: {}\n", by);
  if (s.failed > 0) text += fmt::format("liblonghaul-cache: {} regions could not be deregistered\n", s.failed);
  if (!off.empty()) text += fmt::format("liblonghaul-cache: nothing is kept: {}\n", off);
  return text;
}

std::string to_json(const Statistics& s, const std::string& off, int process) {
  auto text = fmt::format(
      R"({{"process": {}, "off": {}, "hits": {}, "misses": {}, "deregistered": {}, "evicted": {}, "invalidated": {}, )"
      R"("flushed": {}, "out_of_memory": {}, "failed": {}, "regions": {}, "bytes": {}, "passed_by": {{)",
      process, off.empty() ? "null" : json_string(off), s.hits, s.misses, s.deregistered, s.evicted, s.invalidated,
      s.flushed, s.out_of_memory, s.failed, s.regions, s.bytes);
  for (std::size_t i = 1; i < kAdmissions; ++i)
    text += fmt::format(R"({}"{}": {})", i == 1 ? "" : ", ", word(static_cast<Admission>(i)), s.passed_by[i]);
  return text + "}}\n";
}

}  // namespace longhaul::registration
