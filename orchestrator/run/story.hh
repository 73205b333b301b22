// What the process of a run tells, event by event, and what of it is news. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agents/protocol/messages.hh"

namespace longhaul::orchestrator {

/// The sum of a process's events. It may be anybody's: what is told twice or out of turn (a window that closes before
/// it opens, a second record) is dropped, so that no process can prolong its run, or have things done more than once.
class Story {
 public:
  enum class News {
    nothing,
    ready,          ///< a server listens, a client has connected
    window_opened,  ///< it measures
    window_closed,
    progress,  ///< it got further than it was
    end        ///< it has said all that it has to say, or was already through
  };
  News take(agents::RunEvent event);

  /// The end of a process of which nothing more is heard, in our words. What it said itself stays.
  void give_up(std::string why);

  /// Nothing more is to come but `exit`.
  bool over() const { return record || unsupported || failed || exit; }
  /// Why there is no good record; empty: all is well.
  std::string trouble() const;
  /// ns from its being ready to the end of its window.
  std::int64_t measuring() const { return window_stop_ > ready_at_ && ready_at_ > 0 ? window_stop_ - ready_at_ : 0; }

  std::optional<NodeRecord> record;
  std::optional<std::string> unsupported;
  std::optional<std::string> failed;
  std::optional<std::string> exit;
  std::uint16_t port = 0;  ///< where it listens
  bool given_up = false;   ///< `failed` is not its own word

 private:
  News take_bench(BenchEvent bench);

  bool ready_ = false;
  bool opened_ = false;
  bool closed_ = false;
  double done_ = 0;
  std::int64_t ready_at_ = 0;
  std::int64_t window_stop_ = 0;
};

}  // namespace longhaul::orchestrator
