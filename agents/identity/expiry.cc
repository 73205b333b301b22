#include "agents/identity/expiry.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace longhaul::agents {

std::string expiry_notice(const Term& term, WallTime now) {
  if (now >= term.end) return fmt::format("has expired, on {}", iso_time(term.end));
  // Without a beginning (or an end) the difference would overflow.
  const bool bounded = term.begin != WallTime::min() && term.end != WallTime::max();
  const auto notice = bounded ? std::min<WallTime::duration>(kExpiryNotice, (term.end - term.begin) / 4)
                              : WallTime::duration{kExpiryNotice};
  if (now < term.end - notice) return {};
  const auto left = std::chrono::floor<std::chrono::hours>(term.end - now);
  const auto text =
      left < std::chrono::hours{48} ? fmt::format("{} hours", left.count()) : fmt::format("{} days", left.count() / 24);
  return fmt::format("expires in {}, on {}", text, iso_time(term.end));
}

std::string iso_time(WallTime time) {
  const auto seconds = std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  std::tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "?";
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace longhaul::agents
