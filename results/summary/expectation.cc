#include "results/summary/expectation.hh"

#include <algorithm>
#include <cmath>

namespace longhaul::results {
namespace {

const CellSummary* twin_without_delay(const CellSummary& cell, const std::vector<CellSummary>& cells) {
  auto parameters = cell.parameters;
  for (const auto* name : {"delay", "delay_back", "engine"}) parameters.erase(name);
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const auto& one) {
    return one.workload == cell.workload && one.usable > 0 && one.parameters == parameters;
  });
  return found == cells.end() ? nullptr : &*found;
}

Parameters as_achieved(const CellSummary& cell) {
  auto parameters = cell.parameters;
  if (cell.forward.achieved) parameters["delay"] = static_cast<std::int64_t>(std::llround(*cell.forward.achieved));
  if (cell.back.achieved) parameters["delay_back"] = static_cast<std::int64_t>(std::llround(*cell.back.achieved));
  return parameters;
}

}  // namespace

std::optional<double> expected_headline(const CellSummary& cell, const std::vector<CellSummary>& cells,
                                        const Vocabulary& vocabulary) {
  const auto* spec = vocabulary.workload(cell.workload);
  // Of a rate; a workload whose headline is a time may have one beside it.
  const auto* ceiling = cell.metric("ceiling");
  const bool of_rate = spec == nullptr || spec->metrics.empty() || spec->metrics.front().unit == "bit/s";
  if (of_rate && ceiling != nullptr && ceiling->median > 0) return ceiling->median;
  if (spec == nullptr || !spec->predict || spec->metrics.empty() || cell.forward.asked + cell.back.asked == 0)
    return std::nullopt;
  for (const auto* name : {"schedule", "schedule_back"})
    if (cell.parameters.contains(name)) return std::nullopt;  // no formula knows of a path that changes
  const auto predicted = spec->predict(as_achieved(cell));
  if (!predicted || spec->metrics.front().unit != "ns") return predicted;
  const auto* twin = twin_without_delay(cell, cells);
  const auto* start = twin == nullptr ? nullptr : twin->metric(spec->metrics.front().name);
  if (start == nullptr) return std::nullopt;
  return start->median + *predicted - spec->predict(twin->parameters).value_or(0);
}

}  // namespace longhaul::results
