// CSV (RFC 4180).
#pragma once

#include <string>

namespace longhaul {

/// A field as it stands in a line: in quotation marks where it holds a comma, a quotation mark or a line break.
std::string csv_field(const std::string& text);

}  // namespace longhaul
