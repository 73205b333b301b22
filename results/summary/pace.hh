// Axes that say how long or by which clock is measured: no property of what is.
#pragma once

#include <string_view>

namespace longhaul::results {

bool is_pace(std::string_view axis);

}  // namespace longhaul::results
