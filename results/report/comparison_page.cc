#include "results/report/comparison_page.hh"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "common/json.hh"
#include "results/analyses/compare/changes.hh"
#include "results/analyses/markup.hh"
#include "results/report/assets.hh"
#include "results/report/small_page.hh"
#include "results/report/template.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

constexpr std::size_t kNamed = 3;

// What the headline of the page asks: after what is known to differ.
std::string question_of(const Comparison& comparison) {
  if (comparison.kernels.first.empty() || comparison.kernels.first == comparison.kernels.second)
    return "What has changed from the first campaign to the second?";
  return fmt::format("What does Linux {} change against {}?", comparison.kernels.second, comparison.kernels.first);
}

// How many cells differ, where most, and which one.
std::string answer_of(const Comparison& comparison, const Vocabulary& vocabulary) {
  auto kinds = changes(comparison);
  if (kinds.empty()) return "No cell of both campaigns has a figure to compare.";
  int cells = 0, more = 0, less = 0, undecided = 0;
  for (const auto& kind : kinds) {
    cells += kind.cells;
    more += kind.more;
    less += kind.less;
    undecided += kind.undecided;
  }
  const auto far = [](double ratio) { return std::abs(std::log(ratio)); };
  std::stable_sort(kinds.begin(), kinds.end(),
                   [&](const auto& a, const auto& b) { return far(a.median) > far(b.median); });
  auto text = fmt::format(
      "Of {} cells the second campaign's first metric is larger in {}, smaller in {}, the same in {}{}", cells, more,
      less, cells - more - less - undecided, undecided > 0 ? fmt::format(", undecided in {}", undecided) : "");
  const char* between = ". In the median of its cells most changed: ";
  for (std::size_t i = 0; i < std::min(kinds.size(), kNamed); ++i, between = "; ")
    text += fmt::format("{}{}, {} ({:+.1f} %)", between, name_of(kinds[i]), kinds[i].side, 100 * (kinds[i].median - 1));
  const FigureComparison* farthest = nullptr;
  for (const auto& figure : comparison.figures)
    if (figure.headline && figure.ratio && figure.agrees == false &&
        (farthest == nullptr || far(figure.ratio->value) > far(farthest->ratio->value)))
      farthest = &figure;
  if (farthest != nullptr)
    text += fmt::format(". Of one cell: {:+.1f} % ({} {})", 100 * (farthest->ratio->value - 1), farthest->workload,
                        vocabulary.listed(farthest->workload, farthest->parameters));
  return text + ".";
}

}  // namespace

std::string comparison_page(const Comparison& comparison, const Vocabulary& vocabulary) {
  auto document = read_json(to_json(comparison));
  auto& figures = document.at("figures").as_array();
  for (std::size_t i = 0; i < comparison.figures.size(); ++i) {
    const auto& figure = comparison.figures[i];
    auto& one = figures[i].as_object();
    one["text"] = vocabulary.listed(figure.workload, figure.parameters);
    one["delay"] = integer_of(figure.parameters, "delay");
  }
  return small_page(
      {.title = "compare",
       .body = fill(assets::comparison_html(), {{"{{question}}", inside_html(question_of(comparison))},
                                                {"{{answer}}", inside_html(answer_of(comparison, vocabulary))},
                                                {"{{first}}", inside_html(comparison.first)},
                                                {"{{second}}", inside_html(comparison.second)}}),
       .data = json::serialize(document),
       .scripts = std::string{assets::comparison_js()}});
}

Result<std::vector<std::filesystem::path>> write_comparison(const std::filesystem::path& directory,
                                                            const Comparison& comparison,
                                                            const Vocabulary& vocabulary) {
  return write_page(directory, "compare",
                    {.page = comparison_page(comparison, vocabulary), .document = to_json(comparison)});
}

}  // namespace longhaul::results
