#include "orchestrator/campaign/cells.hh"

#include <algorithm>
#include <unordered_set>

#include "degen/impairment/spec.hh"
#include "orchestrator/campaign/providers.hh"

namespace longhaul::orchestrator {
namespace {

constexpr std::int64_t kCountless = std::int64_t{1} << 62;

std::string choice(const Parameters& parameters, const std::string& name) {
  const auto it = parameters.find(name);
  return it == parameters.end() ? std::string{} : std::get<std::string>(it->second);
}

bool between_nodes(const WorkloadSpec& workload) {
  return std::find(workload.roles.begin(), workload.roles.end(), Role::server) != workload.roles.end();
}

// What is wrong with the combination as a whole; empty: nothing.
std::string contradiction(const Campaign& campaign, const Parameters& parameters) {
  if (!between_nodes(campaign.workload)) return {};
  const auto transport = choice(parameters, "transport");
  const auto provider = choice(parameters, "provider");
  if (transport.empty())
    return "a cell without transport; give 'transport: tcp' or 'transport: rdma' in series, axes or fixed";
  if (transport == "rdma" && (provider.empty() || provider == "kernel"))
    return "transport rdma without provider; name the RDMA driver, such as 'provider: rxe'";
  if (transport == "tcp" && !provider.empty() && provider != "kernel")
    return fmt::format(
        "transport tcp with provider {}; to run tcp on the network interface of {}'s device say 'rival: {}'", provider,
        provider, provider);
  if (choice(parameters, "path") == "lan" && !degen::impairment_part(parameters).empty())
    return "an impairment on path lan; only the wan path crosses the router that impairs";
  return {};
}

// The same combination in its one spelling: what does not apply is left out, the impairment is reduced.
Result<Parameters> reduce(const Campaign& campaign, const Parameters& combination) {
  Parameters reduced;
  const auto transport = choice(combination, "transport");
  for (const auto& [name, value] : combination) {
    const auto* spec = find_parameter(campaign.specs, name);
    if (spec->transport.empty() || spec->transport == transport) reduced.emplace(name, value);
  }
  const auto impairment = degen::make_impairment(degen::impairment_part(reduced));
  if (!impairment) return tl::unexpected(impairment.error());
  std::erase_if(reduced,
                [](const auto& entry) { return find_parameter(degen::impairment_axes(), entry.first) != nullptr; });
  reduced.merge(degen::to_parameters(*impairment));
  return make_cell(campaign.workload.name, reduced, campaign.specs).parameters;
}

std::string group_of(const Cell& cell) {
  auto parameters = degen::impairment_part(cell.parameters);
  for (const auto* name : {"engine", "path"})
    if (const auto it = cell.parameters.find(name); it != cell.parameters.end()) parameters.insert(*it);
  return canonical(Cell{.workload = "", .parameters = std::move(parameters)});
}

}  // namespace

std::int64_t count_combinations(const Campaign& campaign) {
  auto count = static_cast<std::int64_t>(campaign.series.size());
  for (const auto& axis : campaign.axes) {
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(axis.values.size()), &count) || count > kCountless)
      return kCountless;
  }
  return count;
}

Result<std::vector<CampaignCell>> expand(const Campaign& campaign) {
  const auto combinations = count_combinations(campaign);
  if (combinations > campaign.max_cells)
    return refuse(
        "{}: the campaign has {}{} cells ({} series{}), the limit is {}; sweep less, or raise it with 'max_cells'",
        campaign.file.path, combinations == kCountless ? "more than " : "", combinations, campaign.series.size(),
        [&] {
          std::string axes;
          for (const auto& axis : campaign.axes) axes += fmt::format(" x {} {}", axis.values.size(), axis.name);
          return axes;
        }(),
        campaign.max_cells);

  std::vector<CampaignCell> cells;
  std::unordered_set<std::string> seen;
  const auto per_series = combinations / static_cast<std::int64_t>(campaign.series.size());
  for (const auto& series : campaign.series) {
    for (std::int64_t number = 0; number < per_series; ++number) {
      auto combination = campaign.fixed;
      combination.insert(series.parameters.begin(), series.parameters.end());
      // The last axis turns fastest, as the file reads.
      auto rest = number;
      for (auto axis = campaign.axes.rbegin(); axis != campaign.axes.rend(); ++axis) {
        const auto size = static_cast<std::int64_t>(axis->values.size());
        combination.emplace(axis->name, axis->values[static_cast<std::size_t>(rest % size)]);
        rest /= size;
      }
      if (const auto wrong = contradiction(campaign, combination); !wrong.empty())
        return refuse("{}{}", at(campaign.file, series.place), wrong);
      const auto reduced = reduce(campaign, combination);
      if (!reduced) return refuse("{}{}", at(campaign.file, series.place), reduced.error().message);
      CampaignCell cell{.cell = {.workload = campaign.workload.name, .parameters = *reduced},
                        .id = {},
                        .group = {},
                        .unsupported = {}};
      cell.id = cell_id(cell.cell);
      if (!seen.insert(cell.id).second) continue;
      cell.group = group_of(cell.cell);
      cell.unsupported = unsupported_by_provider(campaign.workload, cell.cell.parameters);
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

Parameters impairment_of(const Campaign&, const Cell& cell) {
  return degen::impairment_part(cell.parameters);
}

Parameters workload_parameters(const Campaign& campaign, const Cell& cell) {
  Parameters parameters;
  for (const auto& [name, value] : cell.parameters)
    if (find_parameter(campaign.workload.parameters, name) != nullptr) parameters.emplace(name, value);
  return parameters;
}

std::string describe(const Campaign& campaign, const Cell& cell) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  for (const auto& spec : campaign.specs) {
    const auto it = cell.parameters.find(spec.name);
    if (it == cell.parameters.end() || campaign.fixed.contains(spec.name)) continue;
    const auto value = format_value(spec, it->second);
    if (spec.name == "rival")
      add(fmt::format("beside {}", value));
    else if (spec.name == "transport" || spec.name == "provider")
      add(value);
    else
      add(fmt::format("{} {}", spec.name, value));
  }
  return text.empty() ? cell.workload : text;
}

}  // namespace longhaul::orchestrator
