#include "results/report/history_page.hh"

#include <boost/json.hpp>
#include <set>

#include "common/json.hh"
#include "results/analyses/markup.hh"
#include "results/report/assets.hh"
#include "results/report/small_page.hh"
#include "results/report/template.hh"

namespace longhaul::results {
namespace {

// How many cells moved, and how far the farthest is from where it began.
std::string answer_of(const History& history, const Vocabulary& vocabulary) {
  std::set<std::pair<std::int64_t, std::string>> campaigns;
  std::size_t moved = 0;
  const CellHistory* farthest = nullptr;
  double most = 1;
  for (const auto& cell : history.cells) {
    bool differs = false;
    for (const auto& point : cell.points) {
      campaigns.insert({point.started, point.campaign});
      differs = differs || point.agrees == false;
    }
    moved += differs ? 1 : 0;
    const double begin = cell.points.front().median, end = cell.points.back().median;
    if (begin <= 0 || end <= 0 || std::max(end / begin, begin / end) <= most) continue;
    most = std::max(end / begin, begin / end);
    farthest = &cell;
  }
  auto text = fmt::format("{} cells over {} campaigns: {} moved at least once by more than chance.",
                          history.cells.size(), campaigns.size(), moved);
  if (farthest != nullptr)
    text += fmt::format(" Farthest from where it began: {} {:+.1f} % ({}).", farthest->metric,
                        100 * (farthest->points.back().median / farthest->points.front().median - 1),
                        vocabulary.listed(history.workload, farthest->parameters));
  return text;
}

}  // namespace

std::string history_page(const History& history, const Vocabulary& vocabulary) {
  auto document = read_json(to_json(history));
  auto& cells = document.at("cells").as_array();
  for (std::size_t i = 0; i < history.cells.size(); ++i)
    cells[i].as_object()["text"] = vocabulary.listed(history.workload, history.cells[i].parameters);
  return small_page(
      {.title = "history",
       .body = fill(assets::history_html(), {{"{{workload}}", inside_html(history.workload)},
                                             {"{{answer}}", inside_html(answer_of(history, vocabulary))}}),
       .data = boost::json::serialize(document),
       .scripts = std::string{assets::history_js()}});
}

Result<std::vector<std::filesystem::path>> write_history(const std::filesystem::path& directory, const History& history,
                                                         const Vocabulary& vocabulary) {
  return write_page(directory, "history", {.page = history_page(history, vocabulary), .document = to_json(history)});
}

}  // namespace longhaul::results
