#include "common/csv.hh"

namespace longhaul {

std::string csv_field(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string{"\"\""} : std::string{c};
  return text + "\"";
}

}  // namespace longhaul
