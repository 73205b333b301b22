#include "results/analyses/figures.hh"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "results/summary/pace.hh"

namespace longhaul::results {
namespace {

constexpr std::size_t kFewestPoints = 2;

/// A cell of a figure.
struct Candidate {
  const CellSummary* cell;
  Parameters parameters;  // complete
  std::string link;
  bool sockets;
};

/// The cells of a figure that are measured under the same conditions, those of sockets apart.
struct Group {
  std::vector<const Candidate*> rdma;
  std::vector<const Candidate*> sockets;
  std::size_t points() const { return rdma.size() + sockets.size(); }
};

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool fits(const FigureSpec& spec, const CellSummary& cell, bool sockets, const Vocabulary& vocabulary) {
  if (cell.workload != spec.workload || cell.usable == 0 || cell.metric(spec.metric) == nullptr) return false;
  if (sockets && !spec.sockets) return false;
  return std::all_of(spec.where.begin(), spec.where.end(), [&](const auto& one) {
    const bool absent = sockets && vocabulary.of_one_transport(spec.workload, one.first);
    return absent || vocabulary.spelt(spec.workload, cell.parameters, one.first) == one.second;
  });
}

std::vector<Candidate> candidates(const FigureSpec& spec, const Summary& summary, const Vocabulary& vocabulary) {
  std::vector<Candidate> all;
  for (const auto& cell : summary.cells) {
    const bool sockets = is_baseline(cell.transport);
    if ((!sockets && cell.transport != "rdma") || !fits(spec, cell, sockets, vocabulary)) continue;
    all.push_back(
        {&cell, vocabulary.completed(cell.workload, cell.parameters), sockets ? cell.rival : cell.provider, sockets});
  }
  return all;
}

// Parameters that a panel's cells share: what sockets have, too, and what only RDMA has.
struct Held {
  Parameters common;
  Parameters own;
};

Held held_of(const FigureSpec& spec, const Candidate& one, const Vocabulary& vocabulary) {
  Held held;
  for (const auto& [name, value] : one.cell->parameters) {
    if (name == "transport" || name == "provider" || name == "rival" || name == spec.x || has(spec.ways, name))
      continue;
    (vocabulary.of_one_transport(spec.workload, name) ? held.own : held.common).emplace(name, value);
  }
  return held;
}

std::string way_of(const FigureSpec& spec, const CellSummary& cell, const Vocabulary& vocabulary) {
  std::string way;
  for (const auto& axis : spec.ways) {
    const auto word = vocabulary.spelt(cell.workload, cell.parameters, axis);
    if (way.empty())
      way = word;
    else if (cell.parameters.contains(axis))
      way += fmt::format(", {} {}", axis, word);
  }
  return way;
}

// Only where there is something to compare: two ways at a place, or, where there is but one way, two places of a link.
Group comparable(const FigureSpec& spec, const Group& group, const Vocabulary& vocabulary) {
  const bool one_way = spec.ways.empty();
  std::map<std::pair<std::string, std::int64_t>, std::set<std::string>> found;
  const auto place = [&](const Candidate& one) { return integer_of(one.parameters, spec.x); };
  const auto key = [&](const Candidate& one) { return std::pair{one.link, one_way ? 0 : place(one)}; };
  for (const auto* one : group.rdma)
    found[key(*one)].insert(one_way ? fmt::format("{}", place(*one)) : way_of(spec, *one->cell, vocabulary));
  const auto lacks = [&](const Candidate* one) {
    const auto it = found.find(key(*one));
    return it == found.end() || it->second.size() < 2;
  };
  auto kept = group;
  std::erase_if(kept.rdma, lacks);
  std::erase_if(kept.sockets, lacks);
  return kept;
}

std::vector<FigureLine> lines_of(const FigureSpec& spec, const Group& group, const Vocabulary& vocabulary) {
  std::map<std::tuple<std::string, bool, std::string>, std::vector<FigurePoint>> lines;
  for (const auto* list : {&group.rdma, &group.sockets})
    for (const auto* one : *list)
      lines[{one->link, one->sockets, one->sockets ? "sockets" : way_of(spec, *one->cell, vocabulary)}].push_back(
          {integer_of(one->parameters, spec.x), one->cell});
  std::vector<FigureLine> all;
  for (auto& [key, points] : lines) {
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    all.push_back({std::get<0>(key), std::get<2>(key), std::get<1>(key), std::move(points)});
  }
  return all;
}

// A panel is a delay, and what else the spec makes panels of: the name that each of its cells gives it.
std::string panel_of(const FigureSpec& spec, const Candidate& one, const Vocabulary& vocabulary) {
  const auto delay = vocabulary.spelt(spec.workload, one.cell->parameters, "delay");
  auto name = delay == "0" ? std::string{"no delay"} : delay + " each way";
  for (const auto& axis : spec.panels)
    if (one.cell->parameters.contains(axis))
      name += fmt::format(", {} {}", axis, vocabulary.spelt(spec.workload, one.cell->parameters, axis));
  return name;
}

std::string conditions(const FigureSpec& spec, const Held& held, const Vocabulary& vocabulary) {
  std::string text;
  const auto asked = [&](const std::string& name) {
    return std::any_of(spec.where.begin(), spec.where.end(), [&](const auto& one) { return one.first == name; });
  };
  for (const auto* parameters : {&held.common, &held.own})
    for (const auto& [name, value] : *parameters)
      if (name != "delay" && !is_pace(name) && !has(spec.panels, name) && !asked(name))
        text += fmt::format(", {} {}", name, vocabulary.spelt(spec.workload, *parameters, name));
  return text;
}

// The conditions with the most points; among equals the last, which is the largest size.
std::optional<FigurePanel> panel(const FigureSpec& spec, const std::string& name,
                                 const std::vector<const Candidate*>& cells, const Vocabulary& vocabulary) {
  std::map<std::pair<Parameters, Parameters>, Group> groups;
  for (const auto* one : cells) {
    if (one->sockets) continue;
    auto held = held_of(spec, *one, vocabulary);
    groups[{std::move(held.common), std::move(held.own)}].rdma.push_back(one);
  }
  const std::pair<Parameters, Parameters>* best = nullptr;
  Group most;
  for (auto& [key, group] : groups) {
    for (const auto* one : cells)
      if (one->sockets && held_of(spec, *one, vocabulary).common == key.first) group.sockets.push_back(one);
    auto kept = comparable(spec, group, vocabulary);
    if (kept.points() < std::max(kFewestPoints, most.points())) continue;
    best = &key;
    most = std::move(kept);
  }
  if (best == nullptr) return std::nullopt;
  return FigurePanel{.name = name + conditions(spec, {best->first, best->second}, vocabulary),
                     .lines = lines_of(spec, most, vocabulary)};
}

std::string sentence(const FigureSpec& spec) {
  std::string cells = "workload " + spec.workload;
  for (const auto& [axis, word] : spec.where) cells += fmt::format(", {} {}", axis, word);
  std::string ways;
  for (const auto& axis : spec.ways) ways += (ways.empty() ? ", by " : " or ") + axis;
  return fmt::format("{}: the campaign has fewer than two points for it ({}, along {}{})", spec.name, cells, spec.x,
                     ways);
}

Figure draw(const FigureSpec& spec, const Summary& summary, const Vocabulary& vocabulary) {
  const auto all = candidates(spec, summary, vocabulary);
  std::map<std::pair<std::int64_t, std::string>, std::vector<const Candidate*>> places;
  for (const auto& one : all)
    places[{integer_of(one.parameters, "delay"), panel_of(spec, one, vocabulary)}].push_back(&one);
  Figure figure{.spec = &spec, .panels = {}, .left_out = {}};
  for (const auto& [place, cells] : places)
    if (auto drawn = panel(spec, place.second, cells, vocabulary)) figure.panels.push_back(std::move(*drawn));
  if (figure.panels.empty()) figure.left_out = sentence(spec);
  return figure;
}

}  // namespace

const std::vector<FigureSpec>& nfs_figures() {
  // The axes are those of which the paper's text speaks: figure 11's is the record's size. Its figure 6 is a ping-pong;
  // here it is the call that registration is a part of. The most RDMA reads under way were 8 (section 4.1).
  static const std::vector<FigureSpec> all{
      {.name = "Figure 6",
       .caption = "Latency and Registration costs in InfiniBand on OpenSolaris",
       .shows = "time of a READ, the client's buffer registered each time, and once",
       .workload = "rpc",
       .metric = "operation",
       .x = "size",
       .where = {{"procedure", "read"}},
       .ways = {"strategy"}},
      {.name = "Figure 7",
       .caption = "IOzone Read Bandwidth on Solaris",
       .shows = "READ by design, beside sockets",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .where = {{"procedure", "read"}},
       .ways = {"design"},
       .sockets = true},
      {.name = "Figure 8",
       .caption = "IOzone Write Bandwidth on Solaris",
       .shows = "WRITE by design, beside sockets",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .where = {{"procedure", "write"}},
       .ways = {"design"},
       .sockets = true},
      {.name = "Figure 9",
       .caption = "IOzone Read Bandwidth with different registration strategies on OpenSolaris",
       .shows = "READ, the server's buffers registered each time, and once",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .where = {{"procedure", "read"}},
       .ways = {"server_buffers"}},
      {.name = "Figure 10",
       .caption = "IOzone Write Bandwidth with different registration strategies on OpenSolaris",
       .shows = "WRITE, the server's buffers registered each time, and once",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .where = {{"procedure", "write"}},
       .ways = {"server_buffers"}},
      {.name = "Figure 11",
       .caption = "Performance Impact of Client Registration Cache on IOzone Read Tests",
       .shows = "READ, the client's buffers registered each time, once, and once with a copy",
       .workload = "rpc",
       .metric = "throughput",
       .x = "size",
       .where = {{"procedure", "read"}},
       .ways = {"strategy", "copy"}},
      {.name = "Figure 12",
       .caption = "FileBench OLTP Performance",
       .shows = "a database's calls, the server's buffers registered each time, and once",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .where = {{"procedure", "oltp"}},
       .ways = {"server_buffers"}},
      {.name = "Figure 13",
       .caption = "IOzone Read Bandwidth with different registration strategies on Linux",
       .shows = "READ with one key for all memory (segments of 4 KiB), and registered each time",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .where = {{"procedure", "read"}, {"ord", "8"}},
       .ways = {"strategy", "segment"}},
      {.name = "Figure 14",
       .caption = "IOzone Write Bandwidth with different registration strategies on Linux",
       .shows = "WRITE with one key for all memory (segments of 4 KiB), and registered each time",
       .workload = "rpc",
       .metric = "throughput",
       .x = "threads",
       .where = {{"procedure", "write"}, {"ord", "8"}},
       .ways = {"strategy", "segment"}},
      {.name = "Figures 15 and 16",
       .caption = "Multiple clients IOzone Read Bandwidth (4GB and 8GB on the server)",
       .shows = "READ by several clients of one server, which has disks behind a cache, or its files in memory",
       .workload = "rpc",
       .metric = "throughput",
       .x = "clients",
       .where = {{"procedure", "read"}},
       .ways = {},
       .panels = {"store", "cache"},
       .sockets = true}};
  return all;
}

std::vector<Figure> figures(const std::vector<FigureSpec>& specs, const Summary& summary,
                            const Vocabulary& vocabulary) {
  std::vector<Figure> all;
  for (const auto& spec : specs) all.push_back(draw(spec, summary, vocabulary));
  if (std::all_of(all.begin(), all.end(), [](const Figure& one) { return one.panels.empty(); })) return {};
  return all;
}

}  // namespace longhaul::results
