// CSV (RFC 4180), as spreadsheets read it.
#pragma once

#include <string>

namespace longhaul {

/// A field as it stands in a line: in quotation marks where it holds a comma, a quotation mark or a line break. A text
/// that a spreadsheet would take for a formula (it begins with = + - @, a tab or a line break, and is no number) gets
/// an apostrophe in front, which makes it text there (OWASP, "CSV Injection").
std::string csv_field(const std::string& text);

}  // namespace longhaul
