#include "results/analyses/compare/compare.hh"

#include <algorithm>
#include <boost/json.hpp>

#include <set>

#include "model/codec.hh"
#include "results/analyses/compare/changes.hh"
#include "results/statistics/ranks.hh"
#include "results/store/address.hh"
#include "results/summary/clock.hh"
#include "results/summary/processor.hh"

namespace longhaul::results {
namespace {

constexpr double kLevel = 0.95;

bool same_throughout(const std::vector<double>& first, const std::vector<double>& second) {
  if (first.empty() || second.empty()) return false;
  const auto same = [&](double value) { return value == first.front(); };
  return std::all_of(first.begin(), first.end(), same) && std::all_of(second.begin(), second.end(), same);
}

std::string spell(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto list = vocabulary.listed(cell.workload, cell.parameters);
  return list.empty() ? cell.workload : cell.workload + " " + list;
}

std::string spell(const FigureComparison& cell, const Vocabulary& vocabulary) {
  return vocabulary.listed(cell.workload, cell.parameters);
}

std::set<std::string> distinct(const Summary& summary, std::string NodeFacts::*member) {
  std::set<std::string> values;
  for (const auto& [digest, facts] : summary.facts) values.insert(facts.*member);
  return values;
}

// Of the nodes that tell it.
std::set<std::string> distinct(const Summary& summary, std::optional<std::string> NodeFacts::*member) {
  std::set<std::string> values;
  for (const auto& [digest, facts] : summary.facts)
    if (facts.*member) values.insert(*(facts.*member));
  return values;
}

// Which network interface a cell's packets took, and how.
std::string side_of(const CellSummary& cell) {
  const auto& link = cell.rival.empty() ? cell.provider : cell.rival;
  return link.empty() || link == "kernel" ? cell.transport : cell.transport + " over " + link;
}

std::string list(const std::set<std::string>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + value;
  return text.empty() ? "unknown" : text;
}

// The releases of its nodes' kernels, as uname -r tells them.
std::string kernels_of(const Summary& summary) {
  std::set<std::string> releases;
  for (const auto& kernel : distinct(summary, &NodeFacts::kernel)) releases.insert(kernel.substr(0, kernel.find(' ')));
  if (summary.manifest.lab_kernel) releases = {*summary.manifest.lab_kernel};
  return releases.empty() ? std::string{} : list(releases);
}

std::vector<std::string> warnings_of(const Summary& first, const Summary& second) {
  auto warnings = differences(first, second);
  const auto ours = clock_of(first), theirs = clock_of(second);
  if (ours != theirs)
    warnings.push_back(
        fmt::format("clock differs: {} against {}: cells of different clocks are never the same cell", ours, theirs));
  if (ours != kHostClock || theirs != kHostClock) warnings.emplace_back(kVirtualClockLimits);
  if (first.emulated != second.emulated)
    warnings.emplace_back("one campaign ran on emulated processors, the other did not");
  return warnings;
}

bool has_result(const CellSummary& cell) {
  return cell.usable > 0 && !cell.metrics.empty();
}

// Processor time is exact by a virtual clock; by the host's the kernel samples it at ticks, in a dozen parts: that is
// looked at, and settles nothing.
std::vector<const MetricSummary*> compared_of(const CellSummary& cell) {
  std::vector<const MetricSummary*> all;
  for (const auto& metric : cell.metrics) all.push_back(&metric);
  if (cell.virtual_clock)
    for (const auto& metric : cell.cpu) all.push_back(&metric);
  return all;
}

// Each run has its own other: they were varied alike.
bool are_pairs(const CellSummary& cell, const CellSummary& other, const MetricSummary& first,
               const MetricSummary& second) {
  const auto runs = cell.seeds.size();
  return runs > 0 && cell.seeds == other.seeds && first.values.size() == runs && second.values.size() == runs;
}

// A metric of a cell in both campaigns.
struct Both {
  const MetricSummary* first;
  const MetricSummary* second;
  bool noisy;  ///< the host's clock timed it: the same figure in every run is none that was measured
  bool pairs;  ///< their runs, one by one, had the same seed
  bool same_throughout() const { return results::same_throughout(first->values, second->values); }
  bool headline;
  // Few pairs say nothing where as many runs, compared all with all, do.
  bool paired(double level) const { return pairs && signed_rank_rank(first->values.size(), (1 - level) / 2) > 0; }
  std::optional<Ratio> ratio(double level) const {
    return paired(level) ? paired_ratio_interval(second->values, first->values, level)
                         : ratio_interval(second->values, first->values, level);
  }
  bool constant() const { return same_throughout() && (noisy || first->values.front() == 0); }
};

// `level`: of the interval that must not contain 1 where they differ.
FigureComparison compare_figure(const CellSummary& cell, const Both& both, double level, double& by_chance) {
  FigureComparison one{.cell_id = cell.cell_id,
                       .workload = cell.workload,
                       .parameters = cell.parameters,
                       .side = side_of(cell),
                       .metric = both.first->name,
                       .unit = both.first->unit,
                       .headline = both.headline,
                       .first = both.first->median,
                       .second = both.second->median,
                       .ratio = both.ratio(kLevel),
                       .paired = both.paired(kLevel),
                       .agrees = {},
                       .constant = both.constant()};
  // Without noise, the same figure in every run is no chance, however few the runs.
  if (both.same_throughout() || (cell.virtual_clock && both.first->values == both.second->values)) {
    one.agrees = true;
    return one;
  }
  const auto joint = both.ratio(level);
  if (!joint || !joint->interval) return one;
  one.agrees = joint->interval->contains(1);
  by_chance += 1 - joint->interval->level;
  return one;
}

bool is_detail(const CellSummary& cell, const MetricSummary& metric, const Vocabulary& vocabulary) {
  const auto* spec = vocabulary.metric(cell.workload, metric.name);
  if (spec != nullptr) return spec->detail;
  const auto& cpu = cpu_metrics();
  const auto found = std::find_if(cpu.begin(), cpu.end(), [&](const auto& one) { return one.name == metric.name; });
  return found != cpu.end() && found->detail;
}

void compare_cell(Comparison& result, const CellSummary& cell, const CellSummary& other, const Vocabulary& vocabulary) {
  const bool noisy = !cell.virtual_clock && !vocabulary.is_local(cell.workload);
  std::vector<Both> all;
  for (const auto* metric : compared_of(cell))
    if (const auto* theirs = other.metric(metric->name))
      all.push_back({metric, theirs, noisy, are_pairs(cell, other, *metric, *theirs), metric == &cell.metrics.front()});
  const auto counts = [&](const Both& one) { return !one.constant() && !is_detail(cell, *one.first, vocabulary); };
  const auto family = std::count_if(all.begin(), all.end(), counts);
  const auto level = 1 - (1 - kLevel) / static_cast<double>(std::max<std::ptrdiff_t>(family, 1));
  int disagreeing = 0, undecided = 0;
  double by_chance = 0;
  for (const auto& both : all) {
    double chance = 0;
    auto figure = compare_figure(cell, both, level, chance);
    if (counts(both)) {
      by_chance += chance;
      disagreeing += figure.agrees == false ? 1 : 0;
      undecided += figure.agrees ? 0 : 1;
    }
    result.paired += figure.paired ? 1 : 0;
    if (cell.virtual_clock) {
      ++result.exact;
      result.identical += both.first->values == both.second->values ? 1 : 0;
    }
    result.figures.push_back(std::move(figure));
  }
  ++(family == 0       ? result.constant
     : disagreeing > 0 ? result.disagreeing
     : undecided > 0   ? result.undecided
                       : result.agreeing);
  result.expected_by_chance += by_chance;
}

}  // namespace

std::vector<std::string> differences(const Summary& first, const Summary& second) {
  std::vector<std::string> differing;
  const auto differ = [&](const char* what, const std::set<std::string>& a, const std::set<std::string>& b) {
    if (a != b) differing.push_back(fmt::format("{} differs: {} against {}", what, list(a), list(b)));
  };
  differ("kernel", distinct(first, &NodeFacts::kernel), distinct(second, &NodeFacts::kernel));
  differ("processor", distinct(first, &NodeFacts::cpu_model), distinct(second, &NodeFacts::cpu_model));
  // Records of before do not tell it, which is no difference.
  const auto machines = distinct(first, &NodeFacts::machine), others = distinct(second, &NodeFacts::machine);
  if (!machines.empty() && !others.empty()) differ("machine", machines, others);
  differ("longhaul", {first.manifest.version}, {second.manifest.version});
  differ("topology", {first.manifest.testbed.topology}, {second.manifest.testbed.topology});
  return differing;
}

std::string shown(double value, const std::string& unit) {
  return unit == "ns" ? fmt::format("{:.1f} us", value / 1000) : fmt::format("{:.4g} {}", value, unit);
}

Comparison compare(const Summary& first, const Summary& second, const Vocabulary& vocabulary) {
  Comparison result;
  result.first = first.manifest.name;
  result.second = second.manifest.name;
  result.kernels = {kernels_of(first), kernels_of(second)};
  result.warnings = warnings_of(first, second);
  std::map<std::string, const CellSummary*> others;
  for (const auto& cell : second.cells)
    if (has_result(cell)) others.emplace(cell.cell_id, &cell);
  for (const auto& cell : first.cells) {
    if (!has_result(cell)) continue;
    const auto other = others.find(cell.cell_id);
    if (other == others.end()) {
      result.only_first.push_back(spell(cell, vocabulary));
      continue;
    }
    compare_cell(result, cell, *other->second, vocabulary);
    others.erase(other);
  }
  for (const auto& cell : second.cells)
    if (others.contains(cell.cell_id)) result.only_second.push_back(spell(cell, vocabulary));
  return result;
}

Result<Comparison> compare(const std::filesystem::path& first, const std::filesystem::path& second,
                           const Vocabulary& vocabulary) {
  const auto one = summarise_directory(first.string(), vocabulary);
  if (!one) return tl::unexpected(one.error());
  const auto two = summarise_directory(second.string(), vocabulary);
  if (!two) return tl::unexpected(two.error());
  auto result = compare(*one, *two, vocabulary);
  result.first = fmt::format("{} ({})", shown_address(first), one->manifest.name);
  result.second = fmt::format("{} ({})", shown_address(second), two->manifest.name);
  return result;
}

std::string to_text(const Comparison& comparison, const Vocabulary& vocabulary) {
  auto text = fmt::format("first:  {}\nsecond: {}\n", comparison.first, comparison.second);
  for (const auto& warning : comparison.warnings) text += fmt::format("note: {}\n", warning);
  text += fmt::format("{:>12}  {:>12}  {:>8}  {:<20}  {:<9}  cell\n", "first", "second", "ratio", "95 % interval", "");
  for (const auto& cell : comparison.figures) {
    const bool bounded = cell.ratio && cell.ratio->interval;
    text += fmt::format("{:>12}  {:>12}  {:>8}  {:<20}  {:<9}  {} {}\n", shown(cell.first, cell.unit),
                        shown(cell.second, cell.unit), cell.ratio ? fmt::format("{:.3f}", cell.ratio->value) : "",
                        bounded ? fmt::format("[{:.3f}, {:.3f}]", cell.ratio->interval->low, cell.ratio->interval->high)
                        : cell.agrees ? "same in every run"
                        : cell.ratio  ? "too few runs"
                                      : "no ratio to 0",
                        cell.agrees ? (*cell.agrees ? "agrees" : "DIFFERS") : "undecided", cell.metric,
                        spell(cell, vocabulary));
  }
  text += to_text(changes(comparison));
  for (const auto& cell : comparison.only_first) text += fmt::format("only in the first:  {}\n", cell);
  for (const auto& cell : comparison.only_second) text += fmt::format("only in the second: {}\n", cell);
  const auto compared = comparison.agreeing + comparison.disagreeing + comparison.undecided;
  text += fmt::format("{} of {} cells agree ({:.0f} %), {} differ ({:.1f} expected by chance alone), {} undecided\n",
                      comparison.agreeing, compared, compared == 0 ? 0.0 : 100.0 * comparison.agreeing / compared,
                      comparison.disagreeing, comparison.expected_by_chance, comparison.undecided);
  if (comparison.constant > 0)
    text +=
        fmt::format("{} cells more say one thing in every run of both: they are not counted\n", comparison.constant);
  if (comparison.paired > 0)
    text += fmt::format("{} figures were compared in pairs: runs of the same seed\n", comparison.paired);
  if (comparison.exact > 0)
    text += fmt::format("{} of {} figures by the virtual clock are the same in every run, one by one\n",
                        comparison.identical, comparison.exact);
  return text;
}

std::string to_json(const Comparison& comparison) {
  namespace json = boost::json;
  const auto strings = [](const std::vector<std::string>& texts) {
    json::array array;
    for (const auto& text : texts) array.emplace_back(text);
    return array;
  };
  json::array figures;
  for (const auto& cell : comparison.figures) {
    json::object object{
        {"cell", cell.cell_id}, {"workload", cell.workload}, {"parameters", codec::encode(cell.parameters)},
        {"side", cell.side},    {"metric", cell.metric},     {"headline", cell.headline},
        {"unit", cell.unit},    {"first", cell.first},       {"second", cell.second}};
    object["ratio"] = cell.ratio ? json::value(cell.ratio->value) : json::value(nullptr);
    const bool bounded = cell.ratio && cell.ratio->interval;
    object["ci_low"] = bounded ? json::value(cell.ratio->interval->low) : json::value(nullptr);
    object["ci_high"] = bounded ? json::value(cell.ratio->interval->high) : json::value(nullptr);
    object["agrees"] = cell.agrees ? json::value(*cell.agrees) : json::value(nullptr);
    object["constant"] = cell.constant;
    object["paired"] = cell.paired;
    figures.emplace_back(std::move(object));
  }
  json::array kinds;
  for (const auto& change : changes(comparison))
    kinds.push_back(json::object{{"workload", change.workload},
                                 {"side", change.side},
                                 {"metric", change.metric},
                                 {"cells", change.cells},
                                 {"more", change.more},
                                 {"less", change.less},
                                 {"undecided", change.undecided},
                                 {"median", change.median},
                                 {"low", change.low},
                                 {"high", change.high}});
  return json::serialize(json::object{{"first", comparison.first},
                                      {"second", comparison.second},
                                      {"kernels", {comparison.kernels.first, comparison.kernels.second}},
                                      {"agreeing", comparison.agreeing},
                                      {"disagreeing", comparison.disagreeing},
                                      {"undecided", comparison.undecided},
                                      {"constant", comparison.constant},
                                      {"paired", comparison.paired},
                                      {"exact", comparison.exact},
                                      {"identical", comparison.identical},
                                      {"expected_by_chance", comparison.expected_by_chance},
                                      {"warnings", strings(comparison.warnings)},
                                      {"only_first", strings(comparison.only_first)},
                                      {"only_second", strings(comparison.only_second)},
                                      {"changes", std::move(kinds)},
                                      {"figures", std::move(figures)}});
}

}  // namespace longhaul::results
