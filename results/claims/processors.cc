#include "results/claims/processors.hh"

#include <algorithm>

#include "results/summary/processor.hh"

namespace longhaul::results {
namespace {

struct Side {
  const char* transport;
  const char* name;
};

constexpr Side kSides[] = {{"rdma", "RDMA"}, {"tcp", "sockets"}, {"", ""}};

// "RDMA client"; what runs by itself is one node.
std::string name_of(const Side& side, const std::string& end) {
  const auto* name = end == "local" ? "node" : end.c_str();
  return *side.name == '\0' ? name : fmt::format("{} {}", side.name, name);
}

}  // namespace

std::vector<ProcessorUse> processors_of(const std::vector<Match>& matches) {
  std::vector<ProcessorUse> all;
  for (const auto& side : kSides) {
    for (const std::string end : kEnds) {
      std::vector<double> shares;
      for (const auto& match : matches)
        for (const auto* cell : {match.cell, match.rival})
          if (cell != nullptr && cell->transport == side.transport)
            if (const auto* share = cell->metric(end + "_cpu"); share != nullptr) shares.push_back(share->median);
      if (shares.empty()) continue;
      const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
      all.push_back({.who = name_of(side, end), .low = *low, .high = *high});
    }
  }
  return all;
}

std::string spelt(const std::vector<ProcessorUse>& processors) {
  std::string text;
  for (const auto& [who, low, high] : processors) {
    const auto least = fmt::format("{:.0f}", low);
    const auto most = fmt::format("{:.0f}", high);
    text += fmt::format("{}{} {} %", text.empty() ? "processors busy: " : ", ", who,
                        least == most ? least : fmt::format("{} to {}", least, most));
  }
  return text;
}

}  // namespace longhaul::results
