#include "common/spelling.hh"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/sha256.hh"

namespace longhaul {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string brief(const std::string& text) {
  constexpr std::size_t kLongest = 80;
  constexpr std::size_t kKept = 40;
  if (text.size() <= kLongest) return text;
  return fmt::format("{}... ({} characters, {})", text.substr(0, kKept), text.size(), short_digest(text).substr(0, 8));
}

}  // namespace longhaul
