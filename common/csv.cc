#include "common/csv.hh"

#include <charconv>
#include <cmath>
#include <string_view>

namespace longhaul {
namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

bool is_formula(std::string_view text) {
  return !text.empty() && std::string_view{"=+-@\t\r\n"}.find(text.front()) != std::string_view::npos &&
         !is_number(text);
}

}  // namespace

std::string csv_field(const std::string& field) {
  std::string text;
  if (is_formula(field)) text += '\'';
  if (field.find_first_of(",\"\r\n") == std::string::npos) return text + field;
  text.insert(0, 1, '"');
  for (const char c : field) text += c == '"' ? std::string{"\"\""} : std::string{c};
  return text + "\"";
}

}  // namespace longhaul
