#include "degen/engines/nfqueue/scheduler.hh"

#include <algorithm>

#include "degen/impairment/distribution.hh"
#include "degen/impairment/draws.h"

namespace longhaul::degen {
namespace {

// Bytes: what is computed of times in nanoseconds is no whole number of them.
constexpr double kRounding = 1;

std::uint32_t upper_half(std::uint64_t draw) {
  return static_cast<std::uint32_t>(draw >> 32);
}

// Such a packet is overtaken.
bool overtaken(const Fault& fault) {
  return fault.kind == Fault::Kind::delay || fault.kind == Fault::Kind::swap;
}

}  // namespace

Scheduler::Scheduler(const Direction& direction, std::uint32_t limit, std::uint64_t seed, Nanoseconds patience,
                     const Play& play)
    : direction_(direction),
      limit_(limit),
      patience_(patience),
      ordered_(direction.keep_order || (direction.jitter.count() == 0 && !direction.schedule.changes_delay())),
      in_order_(ordered_ && std::none_of(direction.faults.list.begin(), direction.faults.list.end(), overtaken)),
      room_(play.room),
      loss_(kernel_probability(direction.loss)),
      model_(loss_model(direction)),
      corrupt_(kernel_probability(direction.corrupt)),
      reorder_(kernel_probability(direction.reorder)),
      seed_(seed) {
  if (!direction.schedule.none()) timeline_.emplace(direction, play.begin);
}

bool Scheduler::lose(std::uint64_t packet, std::uint32_t loss) {
  if (!model_ && loss == 0) return false;
  const auto random = static_cast<std::uint32_t>(degen_draw(seed_, packet, DEGEN_LOSS_AND_REORDER));
  if (!model_) return degen_chance(loss, random) != 0;
  // A packet is lost by the state that it finds; the state changes after it, so that the bad one has a mean length of
  // 1 / leave.
  const bool bad = bad_;
  if (degen_chance(bad ? model_->leave : model_->enter, random) != 0) bad_ = !bad;
  return degen_chance(bad ? model_->loss_bad : model_->loss_good,
                      static_cast<std::uint32_t>(degen_draw(seed_, packet, DEGEN_LOSS_IN_STATE))) != 0;
}

std::optional<Nanoseconds> Scheduler::off_link(const PacketArrival& arrival) const {
  if (!direction_.limited()) return arrival.time;
  // One after the other.
  const auto begin = std::max(link_free_, arrival.time);
  if (!timeline_) {
    const auto off = begin + time_on_link(arrival.bytes, direction_.rate);
    if (patience_.count() > 0 && off - arrival.time > patience_) return {};
    return off;
  }
  const auto off = timeline_->off_link(begin, arrival.bytes);
  if (room_ > 0 && timeline_->sent(arrival.time, off) > static_cast<double>(room_) + kRounding) return {};
  return off;
}

Rewrite Scheduler::arrive(const PacketArrival& arrival, std::vector<Verdict>& verdicts) {
  const auto packet = packets_++;
  const Fault* fault = nullptr;
  const bool numbered = direction_.faults.numbers(arrival.key);
  if (numbered) fault = direction_.faults.of(++numbered_);
  const auto* const moment = timeline_ ? &timeline_->at(arrival.time) : nullptr;
  const bool hit = lose(packet, moment != nullptr ? kernel_probability(moment->loss) : loss_);
  Rewrite change{.mark = hit && direction_.ecn && arrival.ecn_capable, .flip = {}};
  if ((hit && !change.mark) || (fault != nullptr && fault->kind == Fault::Kind::drop)) {
    ++lost_;
    verdicts.push_back({VerdictKind::drop, arrival.id});
    return {};
  }
  const auto off = off_link(arrival);
  if (waiting() >= limit_ || !off) {
    ++overflowed_;
    verdicts.push_back({VerdictKind::drop, arrival.id});
    return {};
  }
  if (corrupt_ != 0 && degen_chance(corrupt_, upper_half(degen_draw(seed_, packet, DEGEN_JITTER_AND_FLIP))) != 0)
    change.flip = degen_draw(seed_, packet, DEGEN_PLACE);
  marked_ += change.mark ? 1 : 0;
  corrupted_ += change.flip ? 1 : 0;
  if (reorder_ != 0 && degen_chance(reorder_, upper_half(degen_draw(seed_, packet, DEGEN_LOSS_AND_REORDER))) != 0) {
    verdicts.push_back({VerdictKind::accept, arrival.id});
    return change;
  }
  if (direction_.limited()) link_free_ = *off;
  // Behind the link comes the delay of the distance, for each packet on its own.
  auto due = *off + (moment != nullptr ? moment->delay : direction_.delay);
  if (direction_.jitter.count() > 0)
    due += draw_deviation(direction_.distribution, direction_.jitter,
                          static_cast<std::uint32_t>(degen_draw(seed_, packet, DEGEN_JITTER_AND_FLIP)));
  if (ordered_) due = last_due_ = std::max(due, last_due_);
  Waiting waiting{.due = due, .turn = turn_++, .id = arrival.id, .changed = change.any()};
  if (in_order_) {
    fifo_.push_back(waiting);
    return change;
  }
  if (fault != nullptr && fault->kind == Fault::Kind::delay) waiting.due += fault->by;
  const bool waits = fault != nullptr && fault->kind == Fault::Kind::swap;
  if (!waits) heap_.push(waiting);
  // Who has no number is nobody's follower.
  if (swapped_ && numbered) {
    heap_.push({.due = std::max(waiting.due, swapped_->due - kSwapPatience),
                .turn = turn_++,
                .id = swapped_->id,
                .changed = swapped_->changed});
    swapped_.reset();
  }
  if (!waits) return change;
  waiting.due += kSwapPatience;
  swapped_ = waiting;
  return change;
}

std::optional<Nanoseconds> Scheduler::next() const {
  std::optional<Nanoseconds> next;
  const auto take = [&](Nanoseconds due) { next = std::min(next.value_or(due), due); };
  if (!fifo_.empty()) take(fifo_.front().due);
  if (!heap_.empty()) take(heap_.top().due);
  if (swapped_) take(swapped_->due);
  return next;
}

void Scheduler::release(Nanoseconds now, std::vector<Verdict>& verdicts) {
  std::optional<std::uint32_t> through;
  const auto let_go = [&] {
    if (through) verdicts.push_back({VerdictKind::accept_through, *through});
    through.reset();
  };
  while (!fifo_.empty() && fifo_.front().due <= now) {
    if (fifo_.front().changed) {
      let_go();
      verdicts.push_back({VerdictKind::accept, fifo_.front().id});
    } else {
      through = fifo_.front().id;
    }
    fifo_.pop_front();
  }
  let_go();
  while (!heap_.empty() && heap_.top().due <= now) {
    verdicts.push_back({VerdictKind::accept, heap_.top().id});
    heap_.pop();
  }
  if (swapped_ && swapped_->due <= now) {
    verdicts.push_back({VerdictKind::accept, swapped_->id});
    swapped_.reset();
  }
}

}  // namespace longhaul::degen
