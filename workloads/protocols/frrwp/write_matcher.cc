#include "workloads/protocols/frrwp/write_matcher.hh"

#include <fmt/format.h>

#include "model/units.hh"

namespace longhaul::workloads::frrwp {

std::vector<Action> WriteMatcher::post(WriteOrder order, observe::RawTime now) {
  const auto tag = order.tag;
  if (held_.contains(tag) || spent_.contains(tag))
    return {Fail{tag, fmt::format("tag {} has been used for another conditional write", tag)}};
  if (const auto it = early_.find(tag); it != early_.end()) {
    auto key = std::move(it->second);
    deadlines_.erase({key.deadline, tag});
    early_.erase(it);
    spend(tag);
    return match(std::move(order), key.length, std::move(key.segments), key.came);
  }
  const auto deadline = now + patience_;
  deadlines_.emplace(deadline, tag);
  held_.emplace(tag, Held{std::move(order), deadline});
  return {};
}

std::vector<Action> WriteMatcher::key(Tag tag, std::uint64_t length, std::vector<Segment> segments,
                                      observe::RawTime now) {
  if (spent_.contains(tag)) return {Reject{tag, fmt::format("tag {} is over: its write was made or given up", tag)}};
  if (early_.contains(tag)) return {Reject{tag, fmt::format("tag {} came twice", tag)}};
  if (const auto it = held_.find(tag); it != held_.end()) {
    auto held = std::move(it->second);
    deadlines_.erase({held.deadline, tag});
    held_.erase(it);
    spend(tag);
    return match(std::move(held.order), length, std::move(segments), now);
  }
  if (early_.size() >= kMostEarly)
    return {Reject{tag, fmt::format("tag {}: {} keys wait for their writes already", tag, kMostEarly)}};
  const auto deadline = now + patience_;
  deadlines_.emplace(deadline, tag);
  early_.emplace(tag, Early{length, std::move(segments), now, deadline});
  return {};
}

std::vector<Action> WriteMatcher::match(WriteOrder order, std::uint64_t length, std::vector<Segment> segments,
                                        observe::RawTime came) {
  if (length != order.length || length_of(segments) != order.length) {
    const auto reason = fmt::format("tag {}: the peer's key is for {} bytes ({} in its segments), the write is of {}",
                                    order.tag, length, length_of(segments), order.length);
    return {Fail{order.tag, reason}, Reject{order.tag, reason}};
  }
  return {Submit{std::move(order), std::move(segments), came}};
}

std::vector<Action> WriteMatcher::cancel(Tag tag) {
  const auto it = held_.find(tag);
  if (it == held_.end()) return {};
  deadlines_.erase({it->second.deadline, tag});
  held_.erase(it);
  spend(tag);
  const auto reason = fmt::format("tag {} was cancelled", tag);
  return {Fail{tag, reason}, Reject{tag, reason}};
}

std::vector<Action> WriteMatcher::refused(Tag tag, const std::string& reason) {
  const auto it = held_.find(tag);
  if (it == held_.end()) return {};
  deadlines_.erase({it->second.deadline, tag});
  held_.erase(it);
  spend(tag);
  return {Fail{tag, reason}};
}

std::vector<Action> WriteMatcher::expire(observe::RawTime now) {
  std::vector<Action> actions;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const auto tag = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    const auto waited = format_quantity(longhaul::Kind::duration, patience_.count());
    if (held_.erase(tag) > 0) {
      const auto reason = fmt::format("tag {}: no key for it came within {}", tag, waited);
      actions.emplace_back(Fail{tag, reason});
      actions.emplace_back(Reject{tag, reason});
    } else {
      early_.erase(tag);
      actions.emplace_back(
          Reject{tag, fmt::format("tag {} is not known: no write with it was posted within {}", tag, waited)});
    }
    spend(tag);
  }
  return actions;
}

std::optional<observe::RawTime> WriteMatcher::deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

void WriteMatcher::spend(Tag tag) {
  if (!spent_.insert(tag).second) return;
  spent_order_.push_back(tag);
  if (spent_order_.size() <= kRemembered) return;
  spent_.erase(spent_order_.front());
  spent_order_.pop_front();
}

}  // namespace longhaul::workloads::frrwp
