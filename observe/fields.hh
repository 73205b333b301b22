// Taking the kernel's text apart: lines, and fields that spaces delimit.
#pragma once

#include <algorithm>
#include <string_view>

namespace longhaul::observe {

/// Takes the first line, without its end, off the text.
inline std::string_view take_line(std::string_view& text) {
  const auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// Takes the first field off the line; empty when there is none.
inline std::string_view take_field(std::string_view& line) {
  const auto start = line.find_first_not_of(' ');
  if (start == std::string_view::npos) {
    line = {};
    return {};
  }
  const auto stop = std::min(line.find(' ', start), line.size());
  const auto field = line.substr(start, stop - start);
  line.remove_prefix(stop);
  return field;
}

}  // namespace longhaul::observe
