#include "orchestrator/campaign/cells.hh"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "degen/engines/planner.hh"
#include "degen/impairment/spec.hh"
#include "orchestrator/campaign/providers.hh"

namespace longhaul::orchestrator {
namespace {

constexpr std::int64_t kCountless = std::int64_t{1} << 62;

// "'transport: tcp' or 'transport: rdma'"
std::string spelt(const std::vector<std::string>& transports) {
  std::string text;
  for (const auto& one : transports) text += fmt::format("{}'transport: {}'", text.empty() ? "" : " or ", one);
  return text;
}

// The error of the combination as a whole; empty: none.
std::string contradiction(const Experiment& experiment, const Parameters& parameters) {
  const auto& transports = experiment.workload.transports;
  if (transports.empty()) return {};
  const auto transport = choice_of(parameters, "transport");
  const auto provider = choice_of(parameters, "provider");
  if (transport.empty())
    return fmt::format("a cell without transport; give {} in series, axes or fixed", spelt(transports));
  if (std::find(transports.begin(), transports.end(), transport) == transports.end())
    return fmt::format("workload {} does not run over {}; give {}", experiment.workload.name, transport,
                       spelt(transports));
  const auto& only = find_transport(transport)->provider;
  if (only.empty() && (provider.empty() || provider == "kernel"))
    return fmt::format("transport {} without provider; name the RDMA driver, such as 'provider: rxe'", transport);
  if (!only.empty() && !provider.empty() && provider != only)
    return fmt::format(
        "transport {0} with provider {1}; to run {0} on the network interface of {1}'s device say 'rival: {1}'",
        transport, provider);
  if (choice_of(parameters, "path") == "lan" && !degen::impairment_part(parameters).empty())
    return "an impairment on path lan; only the wan path crosses the router that impairs";
  return {};
}

// The same combination in its one spelling: what does not apply is left out, the impairment is reduced.
Result<Parameters> reduce(const Experiment& experiment, const Parameters& combination) {
  Parameters reduced;
  const auto transport = choice_of(combination, "transport");
  for (const auto& [name, value] : combination) {
    const auto* spec = find_parameter(experiment.specs, name);
    if (applies(*spec, transport)) reduced.emplace(name, value);
  }
  const auto impairment = degen::make_impairment(degen::impairment_part(reduced));
  if (!impairment) return tl::unexpected(impairment.error());
  std::erase_if(reduced,
                [](const auto& entry) { return find_parameter(degen::impairment_axes(), entry.first) != nullptr; });
  reduced.merge(degen::to_parameters(*impairment));
  return make_cell(experiment.workload.name, reduced, experiment.specs).parameters;
}

// Cells that cross nothing share what is no impairment, whatever the others need of the router.
std::string group_of(const Cell& cell, bool local) {
  if (local) return "alone";
  auto parameters = degen::impairment_part(cell.parameters);
  for (const auto* name : {"engine", "path"})
    if (const auto it = cell.parameters.find(name); it != cell.parameters.end()) parameters.insert(*it);
  return canonical(Cell{.workload = "", .parameters = std::move(parameters)});
}

// Why the cell's engine cannot do what is asked of the WAN; empty: it can.
std::string unsupported_by_engine(const Parameters& parameters) {
  const auto impairment = degen::make_impairment(degen::impairment_part(parameters));
  const auto engine = choice_of(parameters, "engine");
  if (!impairment) return {};
  const auto able = degen::check_engine(*impairment, engine.empty() ? degen::engine_names().front() : engine);
  return able ? std::string{} : able.error().message;
}

std::int64_t combinations_of(const Experiment& experiment) {
  auto count = static_cast<std::int64_t>(experiment.series.size());
  for (const auto& axis : experiment.axes) {
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(axis.values.size()), &count) || count > kCountless)
      return kCountless;
  }
  return count;
}

// "1 series x 1000 delay x 1000 jitter", for each experiment.
std::string product_of(const Campaign& campaign) {
  std::string text;
  for (const auto& experiment : campaign.experiments) {
    text += fmt::format("{}{} series", text.empty() ? "" : ", ", experiment.series.size());
    for (const auto& axis : experiment.axes) text += fmt::format(" x {} {}", axis.values.size(), axis.name);
  }
  return text;
}

// One combination of an experiment's axes; the last axis turns fastest, as the file reads.
Result<CampaignCell> cell_at(const Experiment& experiment, const Series& series, std::int64_t number) {
  auto combination = experiment.fixed;
  combination.insert(series.parameters.begin(), series.parameters.end());
  for (auto axis = experiment.axes.rbegin(); axis != experiment.axes.rend(); ++axis) {
    const auto size = static_cast<std::int64_t>(axis->values.size());
    combination.emplace(axis->name, axis->values[static_cast<std::size_t>(number % size)]);
    number /= size;
  }
  if (const auto wrong = contradiction(experiment, combination); !wrong.empty()) return refuse("{}", wrong);
  auto reduced = reduce(experiment, combination);
  if (!reduced) return tl::unexpected(reduced.error());
  CampaignCell cell;
  cell.cell = {.workload = experiment.workload.name, .parameters = std::move(*reduced)};
  cell.id = cell_id(cell.cell);
  cell.local = is_local(experiment.workload);
  cell.group = group_of(cell.cell, cell.local);
  cell.unsupported = unsupported_by_provider(experiment.workload, cell.cell.parameters);
  if (cell.unsupported.empty()) cell.unsupported = unsupported_by_engine(cell.cell.parameters);
  return cell;
}

}  // namespace

const WorkloadSpec& workload_of(const Campaign& campaign, const CampaignCell& cell) {
  return campaign.experiments[cell.experiment].workload;
}

std::int64_t count_combinations(const Campaign& campaign) {
  std::int64_t count = 0;
  for (const auto& experiment : campaign.experiments)
    if (__builtin_add_overflow(count, combinations_of(experiment), &count) || count > kCountless) return kCountless;
  return count;
}

Result<std::vector<CampaignCell>> expand(const Campaign& campaign) {
  const auto combinations = count_combinations(campaign);
  if (combinations > campaign.max_cells)
    return refuse("{}: the campaign has {}{} cells ({}), the limit is {}; sweep less, or raise it with 'max_cells'",
                  campaign.file.path, combinations == kCountless ? "more than " : "", combinations,
                  product_of(campaign), campaign.max_cells);

  std::vector<CampaignCell> cells;
  std::unordered_set<std::string> seen;
  for (std::size_t number = 0; number < campaign.experiments.size(); ++number) {
    const auto& experiment = campaign.experiments[number];
    for (const auto& series : experiment.series) {
      const auto per_series = combinations_of(experiment) / static_cast<std::int64_t>(experiment.series.size());
      for (std::int64_t i = 0; i < per_series; ++i) {
        auto cell = cell_at(experiment, series, i);
        if (!cell) return refuse("{}{}", at(campaign.file, series.place), cell.error().message);
        cell->experiment = number;
        if (seen.insert(cell->id).second) cells.push_back(std::move(*cell));
      }
    }
  }
  return cells;
}

void set_clock(std::vector<CampaignCell>& cells, std::string_view clock) {
  const auto* spec = find_parameter(common_axes(), kClockAxis);
  const Value value{std::string{clock}};
  if (const auto ok = check_value(*spec, value); !ok) throw std::invalid_argument("clock: " + ok.error().message);
  for (auto& one : cells) {
    if (spec->fallback == value)
      one.cell.parameters.erase(kClockAxis);
    else
      one.cell.parameters.insert_or_assign(kClockAxis, value);
    one.id = cell_id(one.cell);
  }
}

Parameters workload_parameters(const Campaign& campaign, const CampaignCell& cell) {
  Parameters parameters;
  for (const auto& [name, value] : cell.cell.parameters)
    if (find_parameter(workload_of(campaign, cell).parameters, name) != nullptr) parameters.emplace(name, value);
  return parameters;
}

bool changes_with_time(const Campaign& campaign, const CampaignCell& cell) {
  const auto& experiment = campaign.experiments[cell.experiment];
  const auto named = [](const std::string& axis) { return axis == "schedule" || axis == "schedule_back"; };
  const auto names = [&](const Parameters& all) {
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return named(one.first); });
  };
  return names(experiment.fixed) ||
         std::any_of(experiment.axes.begin(), experiment.axes.end(),
                     [&](const Axis& axis) { return named(axis.name); }) ||
         std::any_of(experiment.series.begin(), experiment.series.end(),
                     [&](const Series& series) { return names(series.parameters); });
}

std::string describe(const Campaign& campaign, const CampaignCell& cell) {
  const auto& experiment = campaign.experiments[cell.experiment];
  std::string text = campaign.experiments.size() > 1 ? cell.cell.workload : std::string{};
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  for (const auto& spec : experiment.specs) {
    const auto it = cell.cell.parameters.find(spec.name);
    if (it == cell.cell.parameters.end() || experiment.fixed.contains(spec.name)) continue;
    const auto value = brief(format_value(spec, it->second));
    if (spec.name == "rival")
      add(fmt::format("beside {}", value));
    else if (spec.name == "transport" || spec.name == "provider")
      add(value);
    else
      add(fmt::format("{} {}", spec.name, value));
  }
  return text.empty() ? cell.cell.workload : text;
}

}  // namespace longhaul::orchestrator
