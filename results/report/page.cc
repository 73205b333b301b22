// report.html: the template with everything put in, so that the file works alone, offline and from file://.
#include <boost/json.hpp>

#include "results/report/assets.hh"
#include "results/report/data.hh"
#include "results/report/report.hh"

namespace longhaul::results {
namespace {

// JSON inside a <script> element: no "<" may stand there as itself, else a text with "</script>" or "<!--" would end or
// swallow the element. Only strings can hold one, and there \u003c means the same.
std::string inside_script(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string inside_html(std::string_view plain) {
  std::string text;
  for (const char c : plain) {
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      default:
        text += c;
    }
  }
  return text;
}

}  // namespace

std::string page_of(const Summary& summary, const Vocabulary& vocabulary) {
  const auto data = data_of(summary, vocabulary, true);
  const auto plain = [&](const char* key) { return inside_html(std::string{data.at(key).as_string()}); };
  const std::pair<std::string_view, std::string> parts[] = {
      {"{{title}}", inside_html(summary.manifest.name)},
      {"{{question}}", plain("question")},
      {"{{answer}}", plain("answer")},
      {"{{css}}", std::string{assets::page_css()}},
      {"{{data}}", inside_script(boost::json::serialize(data))},
      {"{{echarts}}", std::string{assets::echarts()}},
      {"{{scripts}}", std::string{assets::scale_js()} + std::string{assets::model_js()} +
                          std::string{assets::charts_js()} + std::string{assets::claims_js()} +
                          std::string{assets::tables_js()} + std::string{assets::surface_js()} +
                          std::string{assets::page_js()}},
  };
  // One pass over the template: what was put in is not searched for placeholders again.
  std::string page;
  auto rest = assets::page_html();
  while (!rest.empty()) {
    const auto open = rest.find("{{");
    page += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    rest.remove_prefix(open);
    bool known = false;
    for (const auto& [name, text] : parts) {
      if (!rest.starts_with(name)) continue;
      page += text;
      rest.remove_prefix(name.size());
      known = true;
      break;
    }
    if (known) continue;
    page += rest.substr(0, 2);
    rest.remove_prefix(2);
  }
  return page;
}

}  // namespace longhaul::results
