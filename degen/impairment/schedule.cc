#include "degen/impairment/schedule.hh"

#include <fmt/format.h>

#include <algorithm>

#include "degen/impairment/words.hh"

namespace longhaul::degen {
namespace {

// As the axes `delay` and `rate`.
constexpr Nanoseconds kLongestDelay = std::chrono::seconds{10};
constexpr std::int64_t kFastest = 400'000'000'000;

Result<Nanoseconds> read_time(std::string_view word, Nanoseconds longest) {
  const auto time = parse_quantity(Kind::duration, word);
  if (!time) return tl::unexpected(time.error());
  if (*time < 0 || *time > longest.count())
    return refuse("{} is outside 0s to {}", word, format_quantity(Kind::duration, longest.count()));
  return Nanoseconds{*time};
}

Result<Ppm> read_loss(std::string_view word) {
  const auto share = parse_quantity(Kind::fraction, word);
  if (!share) return tl::unexpected(share.error());
  if (*share < 0 || *share > 1'000'000) return refuse("{} is outside 0 to 100%", word);
  return Ppm{*share};
}

Result<LinkRate> read_rate(std::string_view word) {
  const auto rate = parse_quantity(Kind::rate, word);
  if (!rate) return tl::unexpected(rate.error());
  if (*rate <= 0) return refuse("'{}': a rate that changes is limited at all times; give the highest, or 'down'", word);
  if (*rate > kFastest) return refuse("{} is more than {}", word, format_quantity(Kind::rate, kFastest));
  return LinkRate{.rate = BitRate{*rate}};
}

// Each word at most once.
template <typename Kept, typename Read>
Result<void> keep(std::optional<Kept>& kept, Read&& read) {
  if (!read) return tl::unexpected(read.error());
  if (kept) return refuse("it changes twice");
  kept = *read;
  return {};
}

Result<void> read_part(Change& change, std::string_view name, std::string_view& text) {
  if (name == "down") return keep(change.rate, Result<LinkRate>{LinkRate{.rate = {}, .down = true}});
  if (name == "delay") return keep(change.delay, read_time(take_word(text), kLongestDelay));
  if (name == "loss") return keep(change.loss, read_loss(take_word(text)));
  if (name == "rate") return keep(change.rate, read_rate(take_word(text)));
  return refuse("'{}': expected delay, loss or rate with its value, or down", name);
}

Result<void> check(const Schedule& schedule) {
  const auto& all = schedule.changes;
  if (all.size() > kMostChanges) return refuse("{} changes; at most {}", all.size(), kMostChanges);
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].at <= all[i - 1].at)
      return refuse("{} comes behind {}: times ascend", format_quantity(Kind::duration, all[i].at.count()),
                    format_quantity(Kind::duration, all[i - 1].at.count()));
  if (schedule.repeat.count() > 0 && schedule.repeat <= all.back().at)
    return refuse("repeat {}: the last change is at {}: it would never come",
                  format_quantity(Kind::duration, schedule.repeat.count()),
                  format_quantity(Kind::duration, all.back().at.count()));
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const Change& one) { return one.rate.has_value(); });
  if (last != all.rend() && last->rate->down && schedule.repeat.count() == 0)
    return refuse("the link is down for ever from {} on; give a rate afterwards, or repeat",
                  format_quantity(Kind::duration, last->at.count()));
  const bool sends = std::any_of(all.begin(), all.end(), [](const Change& one) { return one.rate && !one.rate->down; });
  if (last != all.rend() && !sends && all.front().at.count() == 0 && all.front().rate)
    return refuse("the link is down for ever: give a rate");
  return {};
}

}  // namespace

bool Schedule::changes_delay() const {
  return std::any_of(changes.begin(), changes.end(), [](const Change& one) { return one.delay.has_value(); });
}

bool Schedule::changes_rate() const {
  return std::any_of(changes.begin(), changes.end(), [](const Change& one) { return one.rate.has_value(); });
}

bool Schedule::loses() const {
  return std::any_of(changes.begin(), changes.end(), [](const Change& one) { return one.loss && one.loss->parts > 0; });
}

Nanoseconds Schedule::length() const {
  if (changes.empty()) return Nanoseconds{0};
  return repeat.count() > 0 ? repeat : changes.back().at;
}

Result<Change> parse_change(std::string_view text) {
  const auto whole = text;
  const auto at = read_time(take_word(text), kLongestTime);
  if (!at) return refuse("'{}': it begins with a time: {}", whole, at.error().message);
  Change change{.at = *at, .delay = {}, .loss = {}, .rate = {}};
  auto name = take_word(text);
  if (name.empty()) return refuse("'{}': expected what changes, such as '2s delay 30ms'", whole);
  for (; !name.empty(); name = take_word(text))
    if (const auto ok = read_part(change, name, text); !ok)
      return refuse("'{}': {}: {}", whole, name, ok.error().message);
  return change;
}

Result<Schedule> parse_schedule(std::string_view text) {
  Schedule schedule;
  if (text == "none") return schedule;
  for (;;) {
    const auto comma = std::min(text.find(','), text.size());
    auto part = text.substr(0, comma);
    part = part.substr(std::min(part.find_first_not_of(' '), part.size()));
    if (schedule.repeat.count() > 0) return refuse("'{}': repeat is the last word", part);
    if (part.starts_with("repeat ")) {
      take_word(part);
      const auto repeat = read_time(take_word(part), kLongestTime);
      if (!repeat) return refuse("repeat: {}", repeat.error().message);
      if (repeat->count() == 0 || schedule.none()) return refuse("repeat: after which changes, and when?");
      schedule.repeat = *repeat;
    } else {
      auto change = parse_change(part);
      if (!change) return tl::unexpected(change.error());
      schedule.changes.push_back(*change);
    }
    if (comma == text.size()) break;
    text = text.substr(comma + 1);
  }
  if (const auto ok = check(schedule); !ok) return tl::unexpected(ok.error());
  return schedule;
}

std::string to_text(const Schedule& schedule) {
  if (schedule.none()) return "none";
  std::string text;
  for (const auto& one : schedule.changes) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", format_quantity(Kind::duration, one.at.count()));
    if (one.delay) text += " delay " + format_quantity(Kind::duration, one.delay->count());
    if (one.loss) text += " loss " + format_quantity(Kind::fraction, one.loss->parts);
    if (one.rate)
      text += one.rate->down ? " down" : " rate " + format_quantity(Kind::rate, one.rate->rate.bits_per_second);
  }
  if (schedule.repeat.count() > 0) text += ", repeat " + format_quantity(Kind::duration, schedule.repeat.count());
  return text;
}

}  // namespace longhaul::degen
