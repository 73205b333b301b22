// When a certificate's time is over, and when that is to be said. Pure.
#pragma once

#include <chrono>
#include <string>

namespace longhaul::agents {

using WallTime = std::chrono::system_clock::time_point;

/// When a certificate is in force.
struct Term {
  WallTime begin = WallTime::min();
  WallTime end = WallTime::max();
};

/// So long ahead the end of a certificate is told; of one that is short-lived, in the last quarter of its term.
inline constexpr std::chrono::hours kExpiryNotice{24 * 30};

/// "expires in 12 days, on 2026-12-07T10:00:00Z" or "has expired, on 2026-11-24T10:00:00Z"; empty: there is time.
std::string expiry_notice(const Term& term, WallTime now);

/// ISO 8601, UTC, whole seconds.
std::string iso_time(WallTime time);

}  // namespace longhaul::agents
