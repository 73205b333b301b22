#include "workloads/bench/capacities.hh"

#include <charconv>
#include <cmath>

#include "model/units.hh"

namespace longhaul::workloads {
namespace {

using registration::Capacity;
using registration::kPageSize;

constexpr int kMostSteps = 64;

Result<std::uint64_t> pages_of(std::string_view text) {
  const auto bytes = parse_quantity(Kind::size, text);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto pages = static_cast<std::uint64_t>(*bytes) / kPageSize;
  if (pages == 0) return refuse("{}: less than a page of {} bytes", text, kPageSize);
  return pages;
}

}  // namespace

Result<std::vector<Capacity>> parse_capacities(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto pages = pages_of(text);
    if (!pages) return tl::unexpected(pages.error());
    return std::vector<Capacity>{{.pages = *pages}};
  }
  auto end = text.substr(dots + 2);
  int steps = 1;
  if (const auto slash = end.find('/'); slash != std::string_view::npos) {
    const auto word = end.substr(slash + 1);
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), steps);
    if (error != std::errc{} || rest != word.data() + word.size() || steps < 1 || steps > kMostSteps)
      return refuse("{}: expected 1 to {} steps for each doubling behind '/'", text, kMostSteps);
    end = end.substr(0, slash);
  }
  const auto low = pages_of(text.substr(0, dots));
  if (!low) return tl::unexpected(low.error());
  const auto high = pages_of(end);
  if (!high) return tl::unexpected(high.error());
  if (*low > *high) return refuse("{}: its end is less than its begin", text);
  std::vector<Capacity> all;
  for (int i = 0;; ++i) {
    const auto pages = std::llround(static_cast<double>(*low) * std::exp2(static_cast<double>(i) / steps));
    if (static_cast<std::uint64_t>(pages) >= *high) break;
    // The smallest ones may round to the same.
    if (all.empty() || all.back().pages != static_cast<std::uint64_t>(pages))
      all.push_back({.pages = static_cast<std::uint64_t>(pages)});
  }
  all.push_back({.pages = *high});
  return all;
}

}  // namespace longhaul::workloads
