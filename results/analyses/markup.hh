// Text of others inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace longhaul::results {

/// Plain text as the content of an element, or of an attribute in quotation marks.
std::string inside_html(std::string_view plain);

}  // namespace longhaul::results
