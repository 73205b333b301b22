#include "degen/impairment/timeline.hh"

#include <algorithm>
#include <cmath>

namespace longhaul::degen {
namespace {

double bytes_a_second(const Moment& moment) {
  return moment.rate.down ? 0 : static_cast<double>(moment.rate.rate.bits_per_second) / 8;
}

double seconds(Nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

Timeline::Timeline(const Direction& direction, Nanoseconds begin)
    : moments_{{.at = {}, .delay = direction.delay, .loss = direction.loss, .rate = {.rate = direction.rate}}},
      repeat_(direction.schedule.repeat),
      begin_(begin) {
  for (const auto& change : direction.schedule.changes) {
    auto moment = moments_.back();
    moment.at = change.at;
    if (change.delay) moment.delay = *change.delay;
    if (change.loss) moment.loss = *change.loss;
    if (change.rate) moment.rate = *change.rate;
    if (change.at.count() == 0) moments_.clear();
    moments_.push_back(moment);
  }
}

Timeline::Position Timeline::position(Nanoseconds time) const {
  auto in = std::max(time - begin_, Nanoseconds{0});
  if (repeat_.count() > 0) in %= repeat_;
  const auto after = std::upper_bound(moments_.begin(), moments_.end(), in,
                                      [](Nanoseconds at, const Moment& moment) { return at < moment.at; });
  return {.moment = static_cast<std::size_t>(after - moments_.begin()) - 1, .in = in};
}

Span Timeline::span(Nanoseconds time) const {
  const auto [moment, in] = position(time);
  const auto end = end_of(moment);
  const auto from = std::max(time, begin_) - (in - moments_[moment].at);
  return {.moment = moments_[moment],
          .from = from,
          .to = end == Nanoseconds::max() ? end : from + (end - moments_[moment].at)};
}

Nanoseconds Timeline::end_of(std::size_t moment) const {
  if (moment + 1 < moments_.size()) return moments_[moment + 1].at;
  return repeat_.count() > 0 ? repeat_ : Nanoseconds::max();
}

Timeline::Position Timeline::next(const Position& position) const {
  const auto moment = position.moment + 1 < moments_.size() ? position.moment + 1 : 0;
  return {.moment = moment, .in = moments_[moment].at};
}

Nanoseconds Timeline::off_link(Nanoseconds start, std::int64_t bytes) const {
  auto at = position(start);
  auto time = start;
  for (double left = static_cast<double>(bytes);; at = next(at)) {
    const auto rate = bytes_a_second(moments_[at.moment]);
    const auto end = end_of(at.moment);
    const auto room = end == Nanoseconds::max() ? left : rate * seconds(end - at.in);
    if (left <= room) return time + Nanoseconds{static_cast<std::int64_t>(left / rate * 1e9)};
    left -= room;
    time += end - at.in;
  }
}

double Timeline::sent(Nanoseconds from, Nanoseconds to) const {
  double bytes = 0;
  for (auto at = position(from); from < to; at = next(at)) {
    const auto end = end_of(at.moment);
    const auto until = end == Nanoseconds::max() ? to : std::min(to, from + (end - at.in));
    bytes += bytes_a_second(moments_[at.moment]) * seconds(until - from);
    from = until;
  }
  return bytes;
}

}  // namespace longhaul::degen
