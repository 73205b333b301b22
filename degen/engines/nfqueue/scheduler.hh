// When each packet of a netfilter queue leaves. Pure: arrivals and the time go in, verdicts come out.
//
// A packet's delay counts from its own arrival, so a burst keeps its spacing and delays never add up (paper, section
// 3). The kernel's batch verdict accepts every packet up to an id; so as long as order is kept one FIFO is all there
// is.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "degen/engines/nfqueue/rewrite.hh"
#include "degen/impairment/plan.hh"
#include "degen/impairment/timeline.hh"

namespace longhaul::degen {

/// A packet that the kernel queued. Ids ascend in the order of arrival (and wrap).
struct PacketArrival {
  std::uint32_t id = 0;
  Nanoseconds time{0};       ///< when it arrived at the router, on the clock of release()
  std::uint32_t bytes = 0;   ///< on the link; matters with a rate only
  bool ecn_capable = false;  ///< its sender knows marks; matters with losses only
  FlowKey key{};             ///< says whether faults of single packets may hit it
};

enum class VerdictKind {
  accept,
  accept_through,  ///< this id and every earlier one that still waits
  drop
};

struct Verdict {
  VerdictKind kind = VerdictKind::accept;
  std::uint32_t id = 0;
  bool operator==(const Verdict&) const = default;
};

/// How a direction's schedule is played.
struct Play {
  Nanoseconds begin{0};   ///< of the schedule, on the clock of arrivals
  std::int64_t room = 0;  ///< bytes that may be on the link and wait for it, where its rate changes; 0: any
};

class Scheduler {
 public:
  /// At most `limit` packets wait; more are dropped. `seed` fixes the random choices. `patience`, with a rate: who
  /// would have left the link later than this after its arrival is dropped too; 0: nobody. `play`: of a direction with
  /// a schedule.
  Scheduler(const Direction& direction, std::uint32_t limit, std::uint64_t seed, Nanoseconds patience = {},
            const Play& play = {});

  /// Takes a packet; appends a verdict if there is one at once (lost, overtaking, queue full). What it returns is to be
  /// done to the packet before it leaves: its verdict is one of its own, to be given with the changed bytes.
  Rewrite arrive(const PacketArrival& arrival, std::vector<Verdict>& verdicts);

  /// When the next packet is due; empty when none waits.
  std::optional<Nanoseconds> next() const;

  /// Appends the verdicts that are due at `now`.
  void release(Nanoseconds now, std::vector<Verdict>& verdicts);

  /// Lets go of all that wait, in order.
  void flush(std::vector<Verdict>& verdicts) { release(Nanoseconds::max(), verdicts); }

  std::size_t waiting() const { return fifo_.size() + heap_.size() + (swapped_ ? 1 : 0); }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t marked() const { return marked_; }
  std::uint64_t corrupted() const { return corrupted_; }
  std::uint64_t overflowed() const { return overflowed_; }
  /// Packets that have a number.
  std::uint32_t numbered() const { return numbered_; }

  /// A packet that is to leave behind the next one waits for it for this long beyond its delay.
  static constexpr Nanoseconds kSwapPatience = std::chrono::milliseconds{10};

 private:
  struct Waiting {
    Nanoseconds due;
    std::uint64_t turn;  // keeps equal times in order
    std::uint32_t id;
    bool changed = false;
    bool operator>(const Waiting& other) const { return due != other.due ? due > other.due : turn > other.turn; }
  };
  bool lose(std::uint64_t packet, std::uint32_t loss);
  /// When a packet that comes now is off the link; empty: the link's queue is full.
  std::optional<Nanoseconds> off_link(const PacketArrival& arrival) const;

  Direction direction_;
  std::uint32_t limit_;
  Nanoseconds patience_;
  bool ordered_;                      // jitter lets no packet overtake another
  bool in_order_;                     // nothing does: one FIFO is all there is
  std::optional<Timeline> timeline_;  // where the direction has a schedule
  std::int64_t room_;
  std::uint32_t loss_;
  std::optional<LossModel> model_;  // in place of loss_
  std::uint32_t corrupt_;
  std::uint32_t reorder_;
  bool bad_ = false;  // state of the loss model
  Nanoseconds link_free_{0};
  Nanoseconds last_due_{0};
  std::uint64_t turn_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t marked_ = 0;
  std::uint64_t corrupted_ = 0;
  std::uint64_t overflowed_ = 0;
  std::uint32_t numbered_ = 0;
  std::deque<Waiting> fifo_;                                                        // order kept
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<Waiting>> heap_;  // order free
  std::optional<Waiting> swapped_;                                                  // waits for its follower
  std::uint64_t seed_;
  std::uint64_t packets_ = 0;  // that came
};

}  // namespace longhaul::degen
