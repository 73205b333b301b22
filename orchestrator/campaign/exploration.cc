#include "orchestrator/campaign/exploration.hh"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "degen/impairment/faults.hh"

namespace longhaul::orchestrator {
namespace {

constexpr const char* kFaults[] = {"faults", "faults_back"};

std::string yaml_string(const std::string& text) {
  return "\"" + text + "\"";
}

// The one that does them all but what it takes a copy for.
const char* engine_of(const ExplorationRule& rule) {
  return rule.fault.starts_with("duplicate") ? "edt" : "nfqueue";
}

// A cell as an experiment whose axes are `axes`: what the cell is, as text that a campaign file has.
std::string experiment(const Campaign& campaign, const CampaignCell& cell, const std::string& axes,
                       const std::string& fixed, const ExplorationRule& rule) {
  const auto& specs = campaign.experiments[cell.experiment].specs;
  std::string out =
      fmt::format("  - workload: {}\n    series: [{{transport: {}}}]\n    axes: {{{}}}\n    fixed: {{engine: {}",
                  cell.cell.workload, choice_of(cell.cell.parameters, "transport"), axes, engine_of(rule));
  for (const auto& [name, value] : cell.cell.parameters)
    if (name != "transport" && name != "engine")
      out += fmt::format(", {}: {}", name, yaml_string(format_value(*find_parameter(specs, name), value)));
  return out + (fixed.empty() ? "" : ", " + fixed) + "}\n";
}

std::string head(const Campaign& campaign, const std::string& what) {
  return fmt::format("name: {}-faults\ndescription: {}\nrepeat: {{min: 1, max: 1}}\nmax_cells: {}\nexperiments:\n",
                     campaign.name, yaml_string(what), kLargestMaxCells);
}

// Both ways as they are, and counted.
std::string as_it_is(const Campaign& campaign, const CampaignCell& cell, const ExplorationRule& rule) {
  return experiment(campaign, cell, "faults: [count]", "", rule);
}

// "drop" and 17: "drop 17"; "delay by 5ms" and 9: "delay 9 by 5ms".
std::string fault_of(const std::string& words, std::uint64_t number) {
  const auto end = words.find(' ');
  return fmt::format("{} {}{}", words.substr(0, end), number, end == std::string::npos ? "" : words.substr(end));
}

using Hit = std::pair<std::size_t, std::uint64_t>;  // way, number

std::string pair_of(const Campaign& campaign, const CampaignCell& cell, const ExplorationRule& rule, Hit one,
                    Hit other) {
  std::string text[2];
  for (const auto& [way, number] : {one, other})
    text[way] += (text[way].empty() ? "" : ", ") + fault_of(rule.fault, number);
  for (auto& faults : text)
    if (faults.empty()) faults = "count";
  return experiment(campaign, cell, fmt::format("faults: [{}]", yaml_string(text[0])),
                    "faults_back: " + yaml_string(text[1]), rule);
}

}  // namespace

Result<std::string> counting_text(const Campaign& campaign, const std::vector<CampaignCell>& cells,
                                  const ExplorationRule& rule) {
  auto text = head(campaign, "counts the packets of each cell");
  for (const auto& cell : cells) {
    if (cell.local || choice_of(cell.cell.parameters, "path", "wan") != "wan")
      return refuse("{}: {} crosses no emulated WAN, so none of its packets can be hit", campaign.file.path,
                    describe(campaign, cell));
    for (const auto* axis : kFaults)
      if (cell.cell.parameters.contains(axis))
        return refuse("{}: {} has faults of its own; leave the axis {} to the exploration", campaign.file.path,
                      describe(campaign, cell), axis);
    text += as_it_is(campaign, cell, rule);
  }
  return text;
}

Result<std::string> exploration_text(const Campaign& campaign, const std::vector<CampaignCell>& cells,
                                     const std::vector<PacketCount>& counts, const ExplorationRule& rule) {
  if (const auto read = degen::parse_faults(fault_of(rule.fault, 1)); !read)
    return refuse("--fault '{}': expected drop, swap, duplicate, or such as 'delay by 5ms' ({})", rule.fault,
                  read.error().message);
  auto text = head(campaign, fmt::format("{} each packet in turn", rule.fault));
  std::mt19937_64 random{rule.seed};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += as_it_is(campaign, cells[i], rule);
    std::vector<Hit> hits;
    const std::uint64_t packets[] = {counts[i].forward, counts[i].back};
    for (std::size_t way = 0; way < 2; ++way) {
      std::string list;
      for (std::uint64_t n = 1; n <= std::min(packets[way], rule.most); ++n) {
        list += (list.empty() ? "" : ", ") + yaml_string(fault_of(rule.fault, n));
        hits.emplace_back(way, n);
      }
      if (!list.empty())
        text += experiment(campaign, cells[i], fmt::format("{}: [{}]", kFaults[way], list),
                           fmt::format("{}: count", kFaults[1 - way]), rule);
    }
    std::set<std::pair<Hit, Hit>> drawn;
    const auto possible = hits.size() * (hits.size() - std::min<std::size_t>(hits.size(), 1)) / 2;
    while (drawn.size() < std::min(rule.pairs, possible)) {
      // Not uniform_int_distribution: its draws differ between libraries, a seed's pairs must not.
      auto one = hits[random() % hits.size()], other = hits[random() % hits.size()];
      if (one == other) continue;
      if (other < one) std::swap(one, other);
      if (drawn.emplace(one, other).second) text += pair_of(campaign, cells[i], rule, one, other);
    }
  }
  return text;
}

}  // namespace longhaul::orchestrator
