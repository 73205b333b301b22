#include "results/report/template.hh"

#include "results/report/assets.hh"

namespace longhaul::results {

std::string fill(std::string_view rest, const std::vector<std::pair<std::string_view, std::string>>& parts) {
  std::string page;
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

std::string standalone(const Page& page) {
  return fill(assets::shell_html(), {{"{{title}}", inside_html(page.title)},
                                     {"{{css}}", std::string{assets::page_css()}},
                                     {"{{body}}", page.body},
                                     {"{{data}}", inside_script(page.data)},
                                     {"{{echarts}}", std::string{assets::echarts()}},
                                     {"{{scripts}}", page.scripts}});
}

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

}  // namespace longhaul::results
