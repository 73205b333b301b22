#include "results/analyses/costs/costs.hh"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace longhaul::results {
namespace {

namespace json = boost::json;

constexpr double kMicrosecond = 1000;

std::string name_of(const CellSummary& cell, const Vocabulary& vocabulary) {
  auto name = cell.provider;
  for (const auto* axis : {"method", "pages", "page_size"})
    if (cell.parameters.contains(axis)) name += " " + vocabulary.spelt(cell.workload, cell.parameters, axis);
  return name;
}

json::object line_of(const LineFit& fit) {
  const auto us = [](double ns) { return std::max(0.0, ns / kMicrosecond); };
  json::object object{{"per_page", us(fit.slope)}, {"per_call", us(fit.intercept)}};
  const auto add = [&](const char* name, const std::optional<Interval>& interval) {
    if (interval) object[name] = json::array{interval->low / kMicrosecond, interval->high / kMicrosecond};
  };
  add("per_page_interval", fit.slope_interval);
  add("per_call_interval", fit.intercept_interval);
  return object;
}

json::object profile_of(const FittedCosts& costs) {
  return {{"name", costs.name},
          {"registering", line_of(costs.registering)},
          {"deregistering", line_of(costs.deregistering)},
          {"unit", "us"},
          {"sizes", costs.sizes},
          {"runs", costs.registering.slopes.size()},
          {"software_provider", costs.soft},
          {"emulated", costs.emulated}};
}

std::string spelt(double value, const std::optional<Interval>& interval) {
  const auto range = interval
                         ? fmt::format(" [{:.3g}, {:.3g}]", interval->low / kMicrosecond, interval->high / kMicrosecond)
                         : std::string{" (too few runs)"};
  return fmt::format("{:.3g}{}", value / kMicrosecond, range);
}

}  // namespace

std::vector<FittedCosts> fit_costs(const Summary& summary, const Vocabulary& vocabulary) {
  std::map<std::pair<std::string, bool>, std::vector<const CellSummary*>> groups;  // by name and clock
  for (const auto& cell : summary.cells)
    if (cell.workload == "registration" && cell.usable > 0)
      groups[{name_of(cell, vocabulary), cell.virtual_clock}].push_back(&cell);
  std::vector<FittedCosts> all;
  for (const auto& [key, cells] : groups) {
    const auto points = [&, &cells = cells](const char* metric) {
      std::vector<LinePoint> line;
      for (const auto* cell : cells) {
        const auto size = integer_of(vocabulary.completed(cell->workload, cell->parameters), "size");
        const auto* measured = cell->metric(metric);
        if (measured != nullptr)
          line.push_back({std::max(1.0, static_cast<double>(size) / kPageSize), measured->values});
      }
      return line;
    };
    const auto registering = fit_line(points("register"));
    const auto deregistering = fit_line(points("deregister"));
    if (!registering || !deregistering) continue;
    all.push_back({.name = key.first,
                   .provider = cells.front()->provider,
                   .sizes = cells.size(),
                   .registering = *registering,
                   .deregistering = *deregistering,
                   .soft = cells.front()->soft,
                   .emulated = std::any_of(cells.begin(), cells.end(), [](const auto* one) { return one->emulated; }),
                   .virtual_clock = key.second});
  }
  return all;
}

std::string to_text(const std::vector<FittedCosts>& costs) {
  if (costs.empty()) return "No cells of the workload registration at two sizes or more.\n";
  std::string text = fmt::format("{:28} {:>5}  {:26} {:26} {:26} {}\n", "us", "sizes", "register: a page", "a call",
                                 "deregister: a page", "a call");
  for (const auto& one : costs)
    text += fmt::format("{:28} {:>5}  {:26} {:26} {:26} {}\n", one.name, one.sizes,
                        spelt(one.registering.slope, one.registering.slope_interval),
                        spelt(one.registering.intercept, one.registering.intercept_interval),
                        spelt(one.deregistering.slope, one.deregistering.slope_interval),
                        spelt(one.deregistering.intercept, one.deregistering.intercept_interval));
  if (std::any_of(costs.begin(), costs.end(), [](const auto& one) { return one.soft || one.emulated; }))
    text += "Software providers or emulated processors: these costs are of this machine, not of an adapter.\n";
  return text;
}

std::string to_json(const std::vector<FittedCosts>& costs) {
  json::array profiles;
  for (const auto& one : costs) profiles.push_back(profile_of(one));
  return json::serialize(json::object{{"schema", 1}, {"costs", std::move(profiles)}}) + "\n";
}

std::string to_profile(const FittedCosts& costs) {
  return json::serialize(profile_of(costs)) + "\n";
}

}  // namespace longhaul::results
