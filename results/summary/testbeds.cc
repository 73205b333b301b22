#include "results/summary/testbeds.hh"

#include <algorithm>

namespace longhaul::results {
namespace {

// The cell's headline on that testbed against that on the others.
std::optional<double> ratio_of(const CellSummary& cell, std::size_t testbed) {
  if (cell.metrics.empty() || cell.metrics.front().values.size() != cell.testbeds.size()) return std::nullopt;
  std::vector<double> here, elsewhere;
  for (std::size_t i = 0; i < cell.testbeds.size(); ++i)
    (cell.testbeds[i] == testbed ? here : elsewhere).push_back(cell.metrics.front().values[i]);
  if (here.empty() || elsewhere.empty() || median(elsewhere) == 0) return std::nullopt;
  return median(here) / median(elsewhere);
}

}  // namespace

std::map<std::string, std::size_t> owners_of_nodes(const Manifest& manifest) {
  std::map<std::string, std::size_t> owners;
  if (!manifest.further_testbeds) return owners;
  const auto testbeds = manifest.testbeds();
  for (std::size_t i = 0; i < testbeds.size(); ++i)
    for (const auto& node : testbeds[i].nodes) owners.emplace(node.name, i);
  return owners;
}

std::vector<TestbedShare> testbed_shares(const Summary& summary) {
  if (!summary.manifest.further_testbeds) return {};
  std::vector<TestbedShare> shares;
  for (const auto& testbed : summary.manifest.testbeds()) {
    auto& share = shares.emplace_back();
    for (const auto& node : testbed.nodes) share.nodes.push_back(node.name);
    std::vector<double> ratios;
    for (const auto& cell : summary.cells) {
      share.runs += static_cast<int>(std::count(cell.testbeds.begin(), cell.testbeds.end(), shares.size() - 1));
      if (const auto ratio = ratio_of(cell, shares.size() - 1)) ratios.push_back(*ratio);
    }
    if (!ratios.empty()) share.ratio = median(ratios);
  }
  return shares;
}

}  // namespace longhaul::results
