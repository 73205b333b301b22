// report.html.
#include <boost/json.hpp>

#include "results/analyses/markup.hh"
#include "results/report/assets.hh"
#include "results/report/data.hh"
#include "results/report/report.hh"
#include "results/report/template.hh"

namespace longhaul::results {

std::string page_of(const Analysis& analysis) {
  const auto data = data_of(analysis, true);
  const auto plain = [&](const char* key) { return inside_html(std::string{data.at(key).as_string()}); };
  return standalone(
      {.title = analysis.summary.manifest.name,
       .body = fill(assets::page_html(), {{"{{question}}", plain("question")}, {"{{answer}}", plain("answer")}}),
       .data = boost::json::serialize(data),
       .scripts = std::string{assets::page_js()}});
}

}  // namespace longhaul::results
