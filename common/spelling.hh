// Suggestions for mistyped words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace longhaul {

/// The candidate closest to `word` by edit distance, for "did you mean"; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// A long text for a line of a table: its beginning, and a digest that tells it from another one. A short one as it is.
std::string brief(const std::string& text);

}  // namespace longhaul
