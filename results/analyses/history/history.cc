#include "results/analyses/history/history.hh"

#include <algorithm>
#include <boost/json.hpp>
#include <ctime>
#include <map>

#include "model/codec.hh"
#include "results/analyses/compare/compare.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

std::string minute_of(std::int64_t ns) {
  const std::time_t seconds = ns / kNanosecondsPerSecond;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[sizeof "2026-11-26 03:00"] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &utc);
  return text;
}

// Each pair of campaigns is compared once, whatever the number of cells.
class Comparisons {
 public:
  Comparisons(const std::vector<NamedSummary>& campaigns, const Vocabulary& vocabulary)
      : campaigns_(campaigns), vocabulary_(vocabulary) {}
  const Comparison& of(std::size_t earlier, std::size_t later) {
    const auto known = made_.find({earlier, later});
    if (known != made_.end()) return known->second;
    return made_
        .emplace(std::pair{earlier, later},
                 compare(campaigns_[earlier].summary, campaigns_[later].summary, vocabulary_))
        .first->second;
  }

 private:
  const std::vector<NamedSummary>& campaigns_;
  const Vocabulary& vocabulary_;
  std::map<std::pair<std::size_t, std::size_t>, Comparison> made_;
};

}  // namespace

History history(std::vector<NamedSummary> campaigns, const std::string& workload, const std::string& metric,
                const Vocabulary& vocabulary) {
  std::stable_sort(campaigns.begin(), campaigns.end(), [](const auto& a, const auto& b) {
    return a.summary.manifest.started < b.summary.manifest.started;
  });
  Comparisons comparisons{campaigns, vocabulary};
  History history{.workload = workload, .cells = {}};
  std::map<std::string, std::size_t> place;  // cell id -> of history.cells
  std::map<std::string, std::size_t> last;   // cell id -> the campaign that had it last
  for (std::size_t i = 0; i < campaigns.size(); ++i) {
    const auto& [name, summary] = campaigns[i];
    for (const auto& cell : summary.cells) {
      if (cell.workload != workload || cell.usable == 0 || cell.metrics.empty()) continue;
      const auto* figure = metric.empty() ? &cell.metrics.front() : cell.metric(metric);
      if (figure == nullptr) continue;
      const auto [at, fresh] = place.emplace(cell.cell_id, history.cells.size());
      if (fresh)
        history.cells.push_back({.cell_id = cell.cell_id,
                                 .parameters = cell.parameters,
                                 .metric = figure->name,
                                 .unit = figure->unit,
                                 .points = {}});
      HistoryPoint point{.campaign = name,
                         .started = summary.manifest.started,
                         .version = summary.manifest.version,
                         .median = figure->median,
                         .interval = figure->interval,
                         .runs = figure->values.size(),
                         .ratio = {},
                         .agrees = {},
                         .changed = {}};
      if (const auto before = last.find(cell.cell_id); before != last.end()) {
        const auto& compared = comparisons.of(before->second, i);
        for (const auto& one : compared.figures)
          if (one.cell_id == cell.cell_id && one.metric == figure->name) {
            point.ratio = one.ratio;
            point.agrees = one.agrees;
          }
        point.changed = differences(campaigns[before->second].summary, summary);
      }
      last[cell.cell_id] = i;
      history.cells[at->second].points.push_back(std::move(point));
    }
  }
  return history;
}

std::string to_text(const History& history, const Vocabulary& vocabulary) {
  std::string text;
  for (const auto& cell : history.cells) {
    const auto list = vocabulary.listed(history.workload, cell.parameters);
    text += fmt::format("{} {}{}{}\n", history.workload, cell.metric, list.empty() ? "" : ": ", list);
    for (const auto& point : cell.points) {
      const bool bounded = point.ratio && point.ratio->interval;
      text += fmt::format(
          "  {}  {:>12}  {:>8}  {:<16}  {:<9}  {} ({} runs)\n", minute_of(point.started),
          shown(point.median, cell.unit), point.ratio ? fmt::format("x {:.3f}", point.ratio->value) : "",
          bounded ? fmt::format("[{:.3f}, {:.3f}]", point.ratio->interval->low, point.ratio->interval->high) : "",
          point.agrees ? (*point.agrees ? "agrees" : "DIFFERS") : "", point.campaign, point.runs);
      for (const auto& what : point.changed) text += fmt::format("      {}\n", what);
    }
  }
  return text;
}

std::string to_json(const History& history) {
  json::array cells;
  for (const auto& cell : history.cells) {
    json::array points;
    for (const auto& point : cell.points) {
      json::object one{{"campaign", point.campaign},
                       {"started", point.started},
                       {"version", point.version},
                       {"median", point.median},
                       {"runs", point.runs}};
      const auto bounds = [&](const char* low, const char* high, const std::optional<Interval>& interval) {
        one[low] = interval ? json::value(interval->low) : json::value(nullptr);
        one[high] = interval ? json::value(interval->high) : json::value(nullptr);
      };
      bounds("ci_low", "ci_high", point.interval);
      one["ratio"] = point.ratio ? json::value(point.ratio->value) : json::value(nullptr);
      bounds("ratio_low", "ratio_high", point.ratio ? point.ratio->interval : std::nullopt);
      one["agrees"] = point.agrees ? json::value(*point.agrees) : json::value(nullptr);
      one["changed"] = json::array(point.changed.begin(), point.changed.end());
      points.emplace_back(std::move(one));
    }
    cells.push_back(json::object{{"cell", cell.cell_id},
                                 {"parameters", codec::encode(cell.parameters)},
                                 {"metric", cell.metric},
                                 {"unit", cell.unit},
                                 {"points", std::move(points)}});
  }
  return json::serialize(json::object{{"workload", history.workload}, {"cells", std::move(cells)}});
}

}  // namespace longhaul::results
