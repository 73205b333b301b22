#include "degen/impairment/trace.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "degen/impairment/plan.hh"
#include "degen/impairment/words.hh"

namespace longhaul::degen {
namespace {

constexpr std::int64_t kTick = 1'000'000;                // of Mahimahi's traces: a millisecond
constexpr std::int64_t kDelivered = 1500 + kLinkHeader;  // bytes of an opportunity, as they count on the link
constexpr std::int64_t kLongestTrace = kLongestTime.count() / kTick;
constexpr std::size_t kMostEvents = 100'000'000;

constexpr std::string_view kBlank = " \t\r";

// Lines that hold something, with their numbers.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  std::optional<std::string_view> next() {
    while (!text_.empty()) {
      ++number_;
      const auto end = std::min(text_.find('\n'), text_.size());
      const auto line = trim(text_.substr(0, end), kBlank);
      text_ = text_.substr(std::min(end + 1, text_.size()));
      if (!line.empty()) return line;
    }
    return {};
  }
  std::size_t number() const { return number_; }

 private:
  std::string_view text_;
  std::size_t number_ = 0;
};

LinkRate rate_of(std::int64_t opportunities, Nanoseconds step) {
  if (opportunities == 0) return {.rate = {}, .down = true};
  // Never too slow by rounding: the last packet of a step leaves in it.
  __extension__ using Wide = __int128;
  const auto bits = static_cast<Wide>(opportunities) * kDelivered * 8 * 1'000'000'000;
  return {.rate = BitRate{static_cast<std::int64_t>((bits + step.count() - 1) / step.count())}};
}

Result<Schedule> read_mahimahi(std::string_view text, Nanoseconds step) {
  std::vector<std::int64_t> opportunities;  // of each step
  std::int64_t last = 0;
  std::size_t events = 0;
  Lines lines{text};
  while (const auto line = lines.next()) {
    std::int64_t at = 0;
    const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), at);
    if (error != std::errc{} || end != line->data() + line->size() || at < 0 || at > kLongestTrace)
      return refuse("line {}: '{}': expected a time in milliseconds, from 0 to {}", lines.number(), *line,
                    kLongestTrace);
    if (at < last) return refuse("line {}: {} ms comes behind {} ms: times ascend", lines.number(), at, last);
    if (++events > kMostEvents) return refuse("line {}: at most {} opportunities", lines.number(), kMostEvents);
    last = at;
    const auto index = static_cast<std::size_t>(at * kTick / step.count());
    if (opportunities.size() <= index) opportunities.resize(index + 1);
    ++opportunities[index];
  }
  if (last == 0) return refuse("the trace ends at 0 ms: it has no length, so no rate");
  Schedule schedule{.changes = {}, .repeat = Nanoseconds{last * kTick}};
  // What comes at the very end belongs to the last step: nothing follows it.
  if (const auto whole = schedule.repeat / step; schedule.repeat % step == Nanoseconds{0} && opportunities.size() > 1) {
    opportunities[static_cast<std::size_t>(whole) - 1] += opportunities.back();
    opportunities.pop_back();
  }
  for (std::size_t i = 0; i < opportunities.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i) * step;
    const auto rate = rate_of(opportunities[i], std::min(step, schedule.repeat - at));
    if (i == 0 || rate != *schedule.changes.back().rate)
      schedule.changes.push_back({.at = at, .delay = {}, .loss = {}, .rate = rate});
  }
  return schedule;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = std::min(line.find(','), line.size());
    fields.push_back(trim(line.substr(0, comma), kBlank));
    if (comma == line.size()) return fields;
    line = line.substr(comma + 1);
  }
}

// It becomes the text of a schedule, which says what a value may be.
Result<Schedule> read_csv(std::string_view text) {
  Lines lines{text};
  const auto columns = fields_of(*lines.next());
  constexpr std::string_view kColumns[] = {"time", "delay", "loss", "rate"};
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (std::find(std::begin(kColumns), std::end(kColumns), columns[i]) == std::end(kColumns) ||
        std::find(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(i), columns[i]) !=
            columns.begin() + static_cast<std::ptrdiff_t>(i))
      return refuse("line {}: column '{}': expected each of {} once at the most", lines.number(), columns[i],
                    fmt::join(kColumns, ", "));
  if (columns.front() != "time") return refuse("line {}: the first column is time", lines.number());
  Schedule schedule;
  while (const auto line = lines.next()) {
    const auto fields = fields_of(*line);
    if (fields.size() != columns.size())
      return refuse("line {}: {} values for {} columns", lines.number(), fields.size(), columns.size());
    std::string change{fields.front()};
    for (std::size_t i = 1; i < fields.size(); ++i) {
      if (fields[i].empty()) continue;
      change += columns[i] == "rate" && fields[i] == "down" ? " down" : fmt::format(" {} {}", columns[i], fields[i]);
    }
    if (change == fields.front()) continue;
    if (schedule.changes.size() == kMostChanges)
      return refuse("line {}: more than {} changes", lines.number(), kMostChanges);
    const auto read = parse_change(change);
    if (!read) return refuse("line {}: {}", lines.number(), read.error().message);
    schedule.changes.push_back(*read);
  }
  if (schedule.none()) return refuse("nothing changes");
  return schedule;
}

}  // namespace

Result<Schedule> read_trace(std::string_view text, Nanoseconds step) {
  if (step < std::chrono::milliseconds{1} || step > kLongestTime)
    return refuse("a step of {} is outside 1ms to {}", format_quantity(Kind::duration, step.count()),
                  format_quantity(Kind::duration, kLongestTime.count()));
  const auto first = Lines{text}.next();
  if (!first) return refuse("the trace is empty");
  const bool numbers = first->front() >= '0' && first->front() <= '9';
  auto schedule = numbers ? read_mahimahi(text, step) : read_csv(text);
  if (!schedule) return schedule;
  // As whoever reads its text will check it.
  const auto spelt = to_text(*schedule);
  if (schedule->changes.size() > kMostChanges || spelt.size() > kLongestSchedule)
    return refuse("{} changes, {} characters; a schedule has at most {} and {}: give longer steps, or a shorter trace",
                  schedule->changes.size(), spelt.size(), kMostChanges, kLongestSchedule);
  return parse_schedule(spelt);
}

}  // namespace longhaul::degen
