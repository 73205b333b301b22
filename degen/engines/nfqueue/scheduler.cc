#include "degen/engines/nfqueue/scheduler.hh"

#include <algorithm>

#include "degen/impairment/distribution.hh"
#include "degen/impairment/draws.h"

namespace longhaul::degen {
namespace {

// Such a packet is overtaken.
bool overtaken(const Fault& fault) {
  return fault.kind == Fault::Kind::delay || fault.kind == Fault::Kind::swap;
}

}  // namespace

Scheduler::Scheduler(const Direction& direction, std::uint32_t limit, std::uint64_t seed, Nanoseconds patience)
    : direction_(direction),
      limit_(limit),
      patience_(patience),
      ordered_(direction.keep_order || direction.jitter.count() == 0),
      in_order_(ordered_ && std::none_of(direction.faults.list.begin(), direction.faults.list.end(), overtaken)),
      loss_(kernel_probability(direction.loss)),
      model_(loss_model(direction)),
      corrupt_(kernel_probability(direction.corrupt)),
      reorder_(kernel_probability(direction.reorder)),
      seed_(seed) {}

bool Scheduler::lose(std::uint64_t packet, std::uint32_t random) {
  if (!model_) return degen_chance(loss_, random) != 0;
  // A packet is lost by the state that it finds; the state changes after it, so that the bad one has a mean length of
  // 1 / leave.
  const bool bad = bad_;
  if (degen_chance(bad ? model_->leave : model_->enter, random) != 0) bad_ = !bad;
  return degen_chance(bad ? model_->loss_bad : model_->loss_good,
                      static_cast<std::uint32_t>(degen_draw(seed_, packet, DEGEN_LOSS_IN_STATE))) != 0;
}

Rewrite Scheduler::arrive(const PacketArrival& arrival, std::vector<Verdict>& verdicts) {
  const auto packet = packets_++;
  const auto random = degen_draw(seed_, packet, DEGEN_LOSS_AND_REORDER);
  const Fault* fault = nullptr;
  if (!direction_.faults.none() && !arrival.probe) fault = direction_.faults.of(++numbered_);
  const bool hit = lose(packet, static_cast<std::uint32_t>(random));
  Rewrite change{.mark = hit && direction_.ecn && arrival.ecn_capable, .flip = {}};
  if ((hit && !change.mark) || (fault != nullptr && fault->kind == Fault::Kind::drop)) {
    ++lost_;
    verdicts.push_back({VerdictKind::drop, arrival.id});
    return {};
  }
  // On the link one after the other; then the delay of the distance, for each on its own.
  auto off_link = arrival.time;
  if (direction_.rate.bits_per_second > 0)
    off_link = std::max(link_free_, arrival.time) + time_on_link(arrival.bytes, direction_.rate);
  if (waiting() >= limit_ || (patience_.count() > 0 && off_link - arrival.time > patience_)) {
    ++overflowed_;
    verdicts.push_back({VerdictKind::drop, arrival.id});
    return {};
  }
  const auto further = degen_draw(seed_, packet, DEGEN_JITTER_AND_FLIP);
  if (degen_chance(corrupt_, static_cast<std::uint32_t>(further >> 32)) != 0)
    change.flip = degen_draw(seed_, packet, DEGEN_PLACE);
  marked_ += change.mark ? 1 : 0;
  corrupted_ += change.flip ? 1 : 0;
  if (degen_chance(reorder_, static_cast<std::uint32_t>(random >> 32)) != 0) {
    verdicts.push_back({VerdictKind::accept, arrival.id});
    return change;
  }
  if (direction_.rate.bits_per_second > 0) link_free_ = off_link;
  auto due = off_link + direction_.delay;
  if (direction_.jitter.count() > 0)
    due += draw_deviation(direction_.distribution, direction_.jitter, static_cast<std::uint32_t>(further));
  if (ordered_) due = last_due_ = std::max(due, last_due_);
  Waiting waiting{.due = due, .turn = turn_++, .id = arrival.id, .changed = change.any()};
  if (in_order_) {
    fifo_.push_back(waiting);
    return change;
  }
  if (fault != nullptr && fault->kind == Fault::Kind::delay) waiting.due += fault->by;
  const bool waits = fault != nullptr && fault->kind == Fault::Kind::swap;
  if (!waits) heap_.push(waiting);
  // A probe is nobody's follower.
  if (swapped_ && !arrival.probe) {
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
