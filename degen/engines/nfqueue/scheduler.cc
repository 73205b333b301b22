#include "degen/engines/nfqueue/scheduler.hh"

#include <algorithm>

#include "degen/impairment/distribution.hh"
#include "degen/impairment/plan.hh"

namespace longhaul::degen {

Scheduler::Scheduler(const Direction& direction, std::uint32_t limit, std::uint32_t seed)
    : direction_(direction),
      limit_(limit),
      in_order_(direction.keep_order || direction.jitter.count() == 0),
      loss_(kernel_probability(direction.loss)),
      reorder_(kernel_probability(direction.reorder)),
      random_(seed) {
  if (const auto bursts = gilbert(direction)) {
    burst_enter_ = bursts->enter;
    burst_leave_ = bursts->leave;
  }
}

bool Scheduler::chance(std::uint32_t probability) {
  return probability > 0 && random_() <= probability;
}

bool Scheduler::lose() {
  if (burst_leave_ == 0) return chance(loss_);
  // The state changes after the packet, so that a burst has a mean length of 1 / leave.
  const bool lost = bad_;
  if (chance(bad_ ? burst_leave_ : burst_enter_)) bad_ = !bad_;
  return lost;
}

void Scheduler::arrive(const PacketArrival& arrival, std::vector<Verdict>& verdicts) {
  if (lose()) {
    ++lost_;
    verdicts.push_back({VerdictKind::drop, arrival.id});
    return;
  }
  if (waiting() >= limit_) {
    ++overflowed_;
    verdicts.push_back({VerdictKind::drop, arrival.id});
    return;
  }
  if (chance(reorder_)) {
    verdicts.push_back({VerdictKind::accept, arrival.id});
    return;
  }
  auto due = arrival.time;
  if (const auto rate = direction_.rate.bits_per_second; rate > 0) {
    // On the link one after the other; then the delay of the distance, for each on its own.
    link_free_ =
        std::max(link_free_, arrival.time) +
        Nanoseconds{static_cast<std::int64_t>(static_cast<double>(arrival.bytes) * 8e9 / static_cast<double>(rate))};
    due = link_free_;
  }
  due += direction_.delay;
  if (direction_.jitter.count() > 0)
    due += draw_deviation(direction_.distribution, direction_.jitter, static_cast<std::uint32_t>(random_()));
  Waiting waiting{.due = due, .turn = turn_++, .id = arrival.id};
  if (!in_order_) {
    heap_.push(waiting);
    return;
  }
  waiting.due = last_due_ = std::max(due, last_due_);
  fifo_.push_back(waiting);
}

std::optional<Nanoseconds> Scheduler::next() const {
  if (!fifo_.empty()) return fifo_.front().due;
  if (!heap_.empty()) return heap_.top().due;
  return {};
}

void Scheduler::release(Nanoseconds now, std::vector<Verdict>& verdicts) {
  std::optional<std::uint32_t> through;
  while (!fifo_.empty() && fifo_.front().due <= now) {
    through = fifo_.front().id;
    fifo_.pop_front();
  }
  if (through) verdicts.push_back({VerdictKind::accept_through, *through});
  while (!heap_.empty() && heap_.top().due <= now) {
    verdicts.push_back({VerdictKind::accept, heap_.top().id});
    heap_.pop();
  }
}

}  // namespace longhaul::degen
