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

// Of the cells of one transport.
std::optional<Busy> range_of(const std::vector<Match>& matches, const char* transport, const std::string& metric) {
  std::vector<double> shares;
  for (const auto& match : matches)
    for (const auto* cell : {match.cell, match.rival})
      if (cell != nullptr && cell->transport == transport)
        if (const auto* share = cell->metric(metric); share != nullptr) shares.push_back(share->median);
  if (shares.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  return Busy{*low, *high};
}

std::string spelt(const Busy& range) {
  const auto least = fmt::format("{:.0f}", range.low);
  const auto most = fmt::format("{:.0f}", range.high);
  return (least == most ? least : fmt::format("{} to {}", least, most)) + " %";
}

}  // namespace

std::vector<ProcessorUse> processors_of(const std::vector<Match>& matches) {
  std::vector<ProcessorUse> all;
  for (const auto& side : kSides) {
    for (const std::string end : kEnds) {
      const auto busy = range_of(matches, side.transport, end + "_cpu");
      if (!busy) continue;
      all.push_back({.who = name_of(side, end),
                     .busy = *busy,
                     .polling = range_of(matches, side.transport, end + "_process_polling")});
    }
  }
  return all;
}

std::string spelt(const std::vector<ProcessorUse>& processors) {
  std::string text;
  for (const auto& [who, busy, polling] : processors) {
    text += fmt::format("{}{} {}", text.empty() ? "processors busy: " : ", ", who, spelt(busy));
    if (polling) text += fmt::format(" (polling {})", spelt(*polling));
  }
  return text;
}

}  // namespace longhaul::results
