// Testbeds that share a campaign: how much each made, and whether they measure alike. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// By a node's name, which one of Manifest::testbeds() it belongs to. Empty where there is one testbed.
std::map<std::string, std::size_t> owners_of_nodes(const Manifest& manifest);

struct TestbedShare {
  std::vector<std::string> nodes;
  int runs = 0;  ///< usable ones
  /// The headline metrics of this testbed against those of all the others: median over the cells that both have made of
  /// the ratio of medians. Alike testbeds have ratios near 1.
  std::optional<double> ratio;
};

/// One of each of Manifest::testbeds(), in that order; none where there is one testbed.
std::vector<TestbedShare> testbed_shares(const Summary& summary);

}  // namespace longhaul::results
