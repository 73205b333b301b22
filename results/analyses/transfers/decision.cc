#include "results/analyses/transfers/decision.hh"

#include <algorithm>
#include <map>
#include <tuple>

namespace longhaul::results {
namespace {

std::string name_of(const CellSummary& cell, const Vocabulary& vocabulary) {
  if (is_baseline(cell.transport)) return find_transport(cell.transport)->title;
  return fmt::format("{}, {}", vocabulary.spelt(cell.workload, cell.parameters, "protocol"),
                     vocabulary.spelt(cell.workload, cell.parameters, "strategy"));
}

}  // namespace

std::vector<Decision> decisions(const Summary& summary, const Vocabulary& vocabulary) {
  using Place = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;
  std::map<Place, std::vector<Choice>> places;
  for (const auto& cell : summary.cells) {
    if (cell.workload != "transfer" || cell.usable == 0) continue;
    const auto* transfer = cell.metric("transfer");
    const auto parameters = vocabulary.completed(cell.workload, cell.parameters);
    if (transfer == nullptr || integer_of(parameters, "compute") > 0 || cell.parameters.contains("completion"))
      continue;
    places[{offers(cell.transport, Capability::any_link) ? cell.rival : cell.provider,
            choice_of(parameters, "direction"), choice_of(parameters, "reuse"), integer_of(parameters, "size"),
            cell.forward.asked}]
        .push_back({.cell = &cell, .name = name_of(cell, vocabulary), .transfer = transfer->median});
  }
  std::vector<Decision> all;
  for (auto& [place, choices] : places) {
    if (choices.size() < 2) continue;
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.transfer < b.transfer; });
    const auto& best = choices.front().cell->metric("transfer")->values;
    for (auto& choice : choices) {
      const auto ratio = ratio_interval(choice.cell->metric("transfer")->values, best).value_or(Ratio{});
      choice.as_good = !ratio.interval || ratio.interval->contains(1);
    }
    const auto& [provider, direction, buffers, size, delay] = place;
    all.push_back({provider, direction, buffers, size, delay, std::move(choices)});
  }
  return all;
}

}  // namespace longhaul::results
