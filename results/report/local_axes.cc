#include "results/report/local_axes.hh"

#include <algorithm>

#include "results/report/answer.hh"

namespace longhaul::results {
namespace {

// The plot's own axis, and what names the line in any case.
bool is_placed(const WorkloadSpec& spec, const std::string& name) {
  return name == spec.plot_axis || name == "transport" || name == "provider" || name == "rival";
}

std::string settings_of(const CellSummary& cell, const Vocabulary& vocabulary) {
  std::string text;
  for (const auto& [name, value] : cell.parameters)
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", name, vocabulary.spelt(cell.workload, cell.parameters, name));
  return text.empty() ? "the defaults" : text;
}

std::string shown(const MetricSummary& metric) {
  if (metric.unit == "ns") return short_time(metric.median);
  return fmt::format("{:.4g}{}{}", metric.median, metric.unit == "1" ? "" : " ", metric.unit == "1" ? "" : metric.unit);
}

}  // namespace

LocalAxes::LocalAxes(const Summary& summary, const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  std::map<std::string, std::map<std::string, std::set<Value>>> values;
  for (const auto& cell : summary.cells) {
    if (!vocabulary.is_local(cell.workload)) continue;
    for (const auto& [name, value] : vocabulary.completed(cell.workload, cell.parameters))
      values[cell.workload][name].insert(value);
  }
  for (const auto& [workload, axes] : values)
    for (const auto& [name, seen] : axes)
      // The clock is a condition: two clocks share no line.
      if (seen.size() > 1 && name != kClockAxis && !is_placed(*vocabulary.workload(workload), name))
        varying_[workload].insert(name);
}

bool LocalAxes::tells_apart(const std::string& workload, const std::string& name) const {
  const auto it = varying_.find(workload);
  return it != varying_.end() && it->second.contains(name);
}

std::string LocalAxes::variant_of(const CellSummary& cell) const {
  std::string text;
  for (const auto& spec : vocabulary_.workload(cell.workload)->parameters)
    if (tells_apart(cell.workload, spec.name))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", spec.name,
                          vocabulary_.spelt(cell.workload, cell.parameters, spec.name));
  return text;
}

std::map<std::string, std::string> LocalAxes::conditions_of(const CellSummary& cell) const {
  std::map<std::string, std::string> conditions;
  for (const auto& [name, value] : cell.parameters)
    if (!is_placed(*vocabulary_.workload(cell.workload), name) && !tells_apart(cell.workload, name))
      conditions[name] = vocabulary_.spelt(cell.workload, cell.parameters, name);
  return conditions;
}

std::string best_local(const Summary& summary, const Vocabulary& vocabulary) {
  const auto first = std::find_if(summary.cells.begin(), summary.cells.end(), [&](const auto& cell) {
    return vocabulary.is_local(cell.workload) && cell.usable > 0 && !cell.metrics.empty();
  });
  if (first == summary.cells.end()) return {};
  const auto& headline = first->metrics.front();
  const CellSummary* best = &*first;
  const CellSummary* worst = best;
  const auto better = [&](const CellSummary& a, const CellSummary& b) {
    const auto value = a.metric(headline.name)->median;
    const auto other = b.metric(headline.name)->median;
    return headline.better == Better::lower ? value < other : value > other;
  };
  for (const auto& cell : summary.cells) {
    if (cell.workload != first->workload || cell.usable == 0 || cell.metric(headline.name) == nullptr) continue;
    if (better(cell, *best)) best = &cell;
    if (better(*worst, cell)) worst = &cell;
  }
  const auto at = [&](const CellSummary& cell) {
    return fmt::format("{} at {}", shown(*cell.metric(headline.name)), settings_of(cell, vocabulary));
  };
  const auto* most = headline.better == Better::neither ? "largest" : "best";
  const auto* least = headline.better == Better::neither ? "smallest" : "worst";
  if (best == worst) return fmt::format("{}: {} is {}.", first->workload, headline.name, at(*best));
  return fmt::format("{}: the {} {} is {}; the {} is {}.", first->workload, most, headline.name, at(*best), least,
                     at(*worst));
}

}  // namespace longhaul::results
