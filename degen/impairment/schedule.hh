// A link that changes: what of one direction holds from which time on. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "model/units.hh"

namespace longhaul::degen {

/// What a link sends at. Down: nothing, packets wait for it.
struct LinkRate {
  BitRate rate;
  bool down = false;
  bool operator==(const LinkRate&) const = default;
};

/// What changes at one time. Absent: it stays as it was.
struct Change {
  Nanoseconds at{0};  ///< since the impairment was put in place, or since the schedule began anew
  std::optional<Nanoseconds> delay;
  std::optional<Ppm> loss;
  std::optional<LinkRate> rate;
  bool operator==(const Change&) const = default;
};

/// Of one direction. Before the first change, and where the schedule begins anew, the direction's own values hold.
struct Schedule {
  std::vector<Change> changes;  ///< by ascending time
  Nanoseconds repeat{0};        ///< it begins anew after so long; 0: what came last stays

  bool operator==(const Schedule&) const = default;
  bool none() const { return changes.empty(); }
  bool changes_delay() const;
  bool changes_rate() const;
  bool loses() const;
  /// Until it begins anew, or until nothing changes any more.
  Nanoseconds length() const;
};

/// The most changes of a schedule, and characters of its text.
inline constexpr std::size_t kMostChanges = 8192;
inline constexpr std::size_t kLongestSchedule = 120'000;
inline constexpr Nanoseconds kLongestTime = std::chrono::hours{24};

/// "none", or a list such as "2s delay 30ms loss 1%, 4s rate 5Mbit, 6s down, 7s rate 20Mbit, repeat 10s". Refuses what
/// cannot be read, times that do not ascend, and a link that is down for ever.
Result<Schedule> parse_schedule(std::string_view text);

/// One of them: "2s delay 30ms loss 1%".
Result<Change> parse_change(std::string_view text);

/// The shortest text that parse_schedule reads back to the same.
std::string to_text(const Schedule& schedule);

}  // namespace longhaul::degen
