#include "results/analyses/compare/changes.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "results/statistics/interval.hh"

namespace longhaul::results {

std::vector<Change> changes(const Comparison& comparison) {
  std::vector<Change> all;
  std::map<std::pair<std::string, std::string>, std::size_t> place;
  std::vector<std::vector<double>> ratios;
  for (const auto& figure : comparison.figures) {
    if (!figure.headline || !figure.ratio) continue;
    const auto [at, fresh] = place.emplace(std::pair{figure.workload, figure.side}, all.size());
    if (fresh) {
      all.push_back({.workload = figure.workload, .side = figure.side, .metric = figure.metric});
      ratios.emplace_back();
    }
    auto& change = all[at->second];
    ++change.cells;
    if (!figure.agrees)
      ++change.undecided;
    else if (!*figure.agrees)
      ++(figure.ratio->value > 1 ? change.more : change.less);
    ratios[at->second].push_back(figure.ratio->value);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [low, high] = std::minmax_element(ratios[i].begin(), ratios[i].end());
    all[i].median = median(ratios[i]);
    all[i].low = *low;
    all[i].high = *high;
  }
  return all;
}

std::string name_of(const Change& change) {
  return change.workload == change.metric ? change.metric : change.workload + " " + change.metric;
}

std::string to_text(const std::vector<Change>& changes) {
  std::string text;
  for (const auto& change : changes) {
    const auto same = change.cells - change.more - change.less - change.undecided;
    text += fmt::format("{}, {}: second / first {:.3f} in the median of {} cells ({:.3f} to {:.3f}); ", name_of(change),
                        change.side, change.median, change.cells, change.low, change.high);
    text += fmt::format("{} more, {} less, {} agree{}\n", change.more, change.less, same,
                        change.undecided > 0 ? fmt::format(", {} undecided", change.undecided) : "");
  }
  return text;
}

}  // namespace longhaul::results
