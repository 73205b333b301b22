#include "results/report/figures.hh"

#include "results/analyses/figures.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

json::object panel_data(const FigurePanel& panel) {
  json::array lines;
  for (const auto& line : panel.lines) {
    json::array cells;
    for (const auto& point : line.points) cells.emplace_back(json::object{{"id", point.cell->cell_id}, {"x", point.x}});
    lines.emplace_back(
        json::object{{"link", line.link}, {"way", line.way}, {"sockets", line.sockets}, {"cells", std::move(cells)}});
  }
  return {{"name", panel.name}, {"lines", std::move(lines)}};
}

}  // namespace

json::value figures_data(const Summary& summary, const Vocabulary& vocabulary) {
  json::array drawn;
  json::array left_out;
  for (const auto& one : figures(nfs_figures(), summary, vocabulary)) {
    if (one.panels.empty()) {
      left_out.emplace_back(one.left_out);
      continue;
    }
    const auto& spec = *one.spec;
    const auto* axis = vocabulary.parameter(spec.workload, spec.x);
    json::array panels;
    for (const auto& panel : one.panels) panels.emplace_back(panel_data(panel));
    drawn.emplace_back(
        json::object{{"name", spec.name},
                     {"caption", spec.caption},
                     {"shows", spec.shows},
                     {"workload", spec.workload},
                     {"metric", spec.metric},
                     {"x", spec.x},
                     {"kind", boost::describe::enum_to_string(axis == nullptr ? Kind::count : axis->kind, "?")},
                     {"panels", std::move(panels)}});
  }
  if (drawn.empty()) return nullptr;
  return json::object{{"paper", kNfsPaper}, {"drawn", std::move(drawn)}, {"left_out", std::move(left_out)}};
}

}  // namespace longhaul::results
