// Limits the log lines on refused connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace longhaul::agents {

/// Anybody who reaches the port can be refused, as often as he likes: so that he cannot fill the disk with the lines
/// that say so, those beyond kPerSecond are only counted. Pure.
class RefusedConnections {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int kPerSecond = 10;

  /// Nothing: count it silently. Otherwise it gets a line, which tells of so many that got none since the last line.
  std::optional<std::uint64_t> admit(Time now) {
    if (now - second_ >= std::chrono::seconds{1}) {
      second_ = now;
      told_ = 0;
    }
    if (told_ >= kPerSecond) {
      ++untold_;
      return {};
    }
    ++told_;
    const auto untold = untold_;
    untold_ = 0;
    return untold;
  }

 private:
  Time second_{};
  int told_ = 0;
  std::uint64_t untold_ = 0;
};

}  // namespace longhaul::agents
