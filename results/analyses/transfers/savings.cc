#include "results/analyses/transfers/savings.hh"

#include <algorithm>

#include "results/analyses/transfers/prediction.hh"

namespace longhaul::results {
namespace {

// The predicted saving of the cell's process against the typical one, with the registrations and messages of
// `measured`.
std::optional<double> predicted_saving(const CellSummary& cell, const CellSummary& measured) {
  const auto parts = measured_parts(measured);
  if (!parts) return std::nullopt;
  // A key that comes while its source still registers waits until that looks; by the typical process it finds it idle,
  // and takes as long as START does, but for what the delays of the two directions differ by.
  auto idle = *parts;
  const auto delay = [](const auto& way) { return way.achieved.value_or(static_cast<double>(way.asked)); };
  if (is_write(cell)) idle.key = std::min(parts->key, parts->start + delay(measured.back) - delay(measured.forward));
  const auto typical = critical_path("typical", is_write(cell), idle);
  const auto own = critical_path(protocol_of(cell), is_write(cell), *parts);
  return typical && own ? std::optional{*typical - *own} : std::nullopt;
}

}  // namespace

bool Saving::due() const {
  return predicted && interval && *predicted > (interval->high - interval->low) / 2;
}

bool beside_typical(const CellSummary& cell, const CellSummary& other) {
  return cell.workload == "transfer" && cell.transport == "rdma" && cell.parameters.contains("protocol") &&
         !other.parameters.contains("protocol") && same_but(cell, other, {"protocol", "paired"});
}

std::optional<Saving> saving_of(const CellSummary& cell, const CellSummary& typical) {
  const auto* measured = cell.metric("critical_path");
  const auto* basis = typical.metric("critical_path");
  if (measured == nullptr || basis == nullptr) return std::nullopt;
  Saving saving{.cell = &cell, .typical = &typical};
  saving.ratio = ratio_interval(measured->values, basis->values).value_or(Ratio{});
  saving.saved = basis->median * (1 - saving.ratio.value);
  if (const auto& of = saving.ratio.interval)
    saving.interval = Interval{basis->median * (1 - of->high), basis->median * (1 - of->low), of->level};
  saving.predicted = predicted_saving(cell, typical);
  return saving;
}

std::optional<Saving> saving_of_pairs(const CellSummary& cell) {
  const auto* saved = cell.metric("saved");
  const auto* path = cell.metric("critical_path");
  if (saved == nullptr || path == nullptr || path->median <= 0) return std::nullopt;
  Saving saving{.cell = &cell};
  saving.saved = saved->median;
  saving.interval = saved->interval;
  const auto ratio = [&](double less) { return path->median / std::max(1.0, path->median + less); };
  saving.ratio.value = ratio(saved->median);
  if (saved->interval)
    saving.ratio.interval = Interval{ratio(saved->interval->high), ratio(saved->interval->low), saved->interval->level};
  saving.predicted = predicted_saving(cell, cell);
  return saving;
}

std::vector<Saving> savings(const Summary& summary) {
  std::vector<Saving> all;
  for (const auto& cell : summary.cells) {
    if (cell.usable == 0) continue;
    if (auto saving = saving_of_pairs(cell)) {
      all.push_back(*saving);
      continue;
    }
    for (const auto& other : summary.cells)
      if (other.usable > 0 && beside_typical(cell, other))
        if (auto saving = saving_of(cell, other)) all.push_back(*saving);
  }
  return all;
}

}  // namespace longhaul::results
