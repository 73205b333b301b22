#include "results/analyses/injections/injections.hh"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <map>

#include "results/metrics/metrics.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

// A process that was started anew lies elsewhere in memory: by so much a figure may differ for that (the spread of
// repetitions, docs/virtual-clock.md).
constexpr double kSpread = 0.02;
constexpr std::int64_t kLongestRun = std::int64_t{1800} * 1'000'000'000;  // ns, of a run of a matrix: less than a step

Result<std::optional<double>> headline_of(const RunRecord& run, const Vocabulary& vocabulary) {
  const auto* workload = vocabulary.workload(run.workload);
  const auto metrics = run_metrics(run);
  if (!metrics) return tl::unexpected(metrics.error());
  if (workload == nullptr || workload->metrics.empty()) return std::optional<double>{};
  const auto found = metrics->find(workload->metrics.front().name);
  return found == metrics->end() ? std::optional<double>{} : std::optional{found->second.value};
}

std::string what_is_wrong(const InjectionOutcome& outcome) {
  if (outcome.off && std::abs(*outcome.off) > kSpread)
    return fmt::format("a figure counts that is off by {:+.1f} %", 100 * *outcome.off);
  if (std::ranges::any_of(outcome.messages, [](const std::string& message) { return message.empty(); }))
    return "an attempt failed and does not say why";
  const auto* fault = find_fault(outcome.injection.fault);
  if (outcome.end == InjectionEnd::ended && fault != nullptr && !fault->fatal)
    return "the testbed does not measure any more, although the fault is over";
  return {};
}

// Values of one kind in the order in which they first come.
template <typename Of>
std::vector<std::string> distinct(const std::vector<InjectionOutcome>& outcomes, Of of) {
  std::vector<std::string> values;
  for (const auto& outcome : outcomes)
    if (const auto value = of(outcome); std::ranges::find(values, value) == values.end()) values.push_back(value);
  return values;
}

std::string row_of(const InjectionOutcome& outcome) {
  return outcome.injection.fault + " " + outcome.injection.target;
}

std::string entry_of(const InjectionOutcome& outcome) {
  return outcome.end == InjectionEnd::nothing_to_hit ? "-"
                                                     : (outcome.wrong.empty() ? "" : "! ") + to_string(outcome.end);
}

std::string line(const std::vector<std::string>& entries, const std::vector<std::size_t>& widths, bool markdown) {
  std::string text = markdown ? "|" : "";
  for (std::size_t i = 0; i < entries.size(); ++i)
    text += markdown ? fmt::format(" {} |", entries[i]) : fmt::format("{:<{}}", entries[i], widths[i] + 2);
  while (text.ends_with(' ')) text.pop_back();
  return text + "\n";
}

std::string table(const std::vector<InjectionOutcome>& outcomes, bool markdown) {
  std::map<std::pair<std::string, std::string>, std::string> entries;
  for (const auto& outcome : outcomes) entries[{row_of(outcome), outcome.injection.moment}] = entry_of(outcome);
  std::vector<std::string> moments;
  for (const auto& moment : run_moments())
    if (std::ranges::any_of(outcomes, [&](const auto& one) { return one.injection.moment == moment.name; }))
      moments.push_back(moment.name);

  std::vector<std::vector<std::string>> rows{{markdown ? "fault" : ""}};
  rows.front().insert(rows.front().end(), moments.begin(), moments.end());
  for (const auto& row : distinct(outcomes, row_of)) {
    rows.push_back({row});
    for (const auto& moment : moments) {
      const auto found = entries.find({row, moment});
      rows.back().push_back(found == entries.end() ? "" : found->second);
    }
  }
  std::vector<std::size_t> widths(moments.size() + 1);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    text += line(row, widths, markdown);
    if (markdown && &row == &rows.front()) text += line(std::vector<std::string>(row.size(), "---"), widths, true);
  }
  return text;
}

std::string summary_of(const std::vector<InjectionOutcome>& outcomes) {
  std::map<InjectionEnd, std::size_t> ends;
  for (const auto& outcome : outcomes) ++ends[outcome.end];
  std::string text = fmt::format("{} faults", outcomes.size() - ends[InjectionEnd::nothing_to_hit]);
  for (const auto end : {InjectionEnd::counts, InjectionEnd::again, InjectionEnd::resumed, InjectionEnd::ended})
    text += fmt::format(", {} {}", ends[end], to_string(end));
  double furthest = 0;
  for (const auto& outcome : outcomes) furthest = std::max(furthest, std::abs(outcome.off.value_or(0)));
  return text + fmt::format("; {} had nothing to hit. What counts is at most {:.2f} % off the undisturbed figure\n",
                            ends[InjectionEnd::nothing_to_hit], 100 * furthest);
}

}  // namespace

std::string to_string(InjectionEnd end) {
  switch (end) {
    case InjectionEnd::nothing_to_hit:
      return "nothing to hit";
    case InjectionEnd::counts:
      return "counts";
    case InjectionEnd::again:
      return "again";
    case InjectionEnd::resumed:
      return "resumed";
    case InjectionEnd::ended:
      return "ended";
  }
  return "?";
}

Result<InjectionOutcome> judge(const Injection& injection, std::string cell, const RunStory& story,
                               const RunRecord& undisturbed, const Vocabulary& vocabulary) {
  InjectionOutcome outcome{.cell = std::move(cell),
                           .injection = injection,
                           .end = InjectionEnd::ended,
                           .messages = {},
                           .off = {},
                           .wrong = {}};
  for (const auto& attempt : story.attempts)
    if (!counts(attempt.status)) outcome.messages.push_back(attempt.message);
  const auto* fault = find_fault(injection.fault);
  // A machine that is gone cannot say that it was hit.
  const bool hit = story.injected == kInjectionDone || (fault != nullptr && fault->fatal && story.injected.empty());
  if (!hit) {
    outcome.end = InjectionEnd::nothing_to_hit;
    if (!story.injected.empty()) outcome.messages.push_back(story.injected);
    return outcome;
  }
  const auto& last = story.attempts.back();
  if (counts(last.status)) {
    const auto figure = headline_of(last, vocabulary), before = headline_of(undisturbed, vocabulary);
    if (!figure || !before) return tl::unexpected((figure ? before : figure).error());
    if (*figure && *before && **before != 0) outcome.off = **figure / **before - 1;
    outcome.end = story.resumed               ? InjectionEnd::resumed
                  : story.attempts.size() > 1 ? InjectionEnd::again
                                              : InjectionEnd::counts;
  }
  outcome.wrong = what_is_wrong(outcome);
  if (outcome.wrong.empty() && (last.finished < last.started || last.finished - last.started > kLongestRun))
    outcome.wrong = "the times of its run are not those of a run";
  return outcome;
}

std::string to_text(const std::vector<InjectionOutcome>& outcomes, bool markdown) {
  std::string text;
  for (const auto& cell : distinct(outcomes, [](const auto& one) { return one.cell; })) {
    std::vector<InjectionOutcome> of_cell;
    std::ranges::copy_if(outcomes, std::back_inserter(of_cell), [&](const auto& one) { return one.cell == cell; });
    text += markdown ? fmt::format("**{}**\n\n", cell) : cell + "\n";
    text += table(of_cell, markdown) + "\n" + summary_of(of_cell) + "\n";
  }
  for (const auto& outcome : outcomes)
    if (!outcome.wrong.empty())
      text += fmt::format("{}, {}: {}{}\n", outcome.cell, to_words(outcome.injection), outcome.wrong,
                          outcome.messages.empty() ? "" : ": " + outcome.messages.back());
  return text;
}

std::string to_json(const std::vector<InjectionOutcome>& outcomes) {
  json::array all;
  for (const auto& outcome : outcomes) {
    json::object one{{"cell", outcome.cell},
                     {"fault", outcome.injection.fault},
                     {"target", outcome.injection.target},
                     {"moment", outcome.injection.moment},
                     {"end", to_string(outcome.end)}};
    json::array messages;
    for (const auto& message : outcome.messages) messages.emplace_back(message);
    one["messages"] = std::move(messages);
    if (outcome.off) one["off"] = *outcome.off;
    if (!outcome.wrong.empty()) one["wrong"] = outcome.wrong;
    all.push_back(std::move(one));
  }
  return json::serialize(all);
}

}  // namespace longhaul::results
