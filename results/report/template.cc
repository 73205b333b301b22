#include "results/report/template.hh"

#include <fmt/format.h>

#include "common/sha256.hh"
#include "results/analyses/markup.hh"
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

std::string policy_of(const std::vector<std::string_view>& scripts, std::string_view styles) {
  const auto source = [](std::string_view text) { return fmt::format(" 'sha256-{}'", Sha256{}.add(text).base64()); };
  std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src";
  for (const auto& script : scripts) policy += source(script);
  return policy + "; style-src" + source(styles);
}

std::string standalone(const Page& page) {
  const auto scripts = "\n(() => {\n'use strict';\n" + page.scripts + "\n})();\n";
  return fill(assets::shell_html(), {{"{{policy}}", policy_of({assets::echarts(), scripts}, assets::page_css())},
                                     {"{{title}}", inside_html(page.title)},
                                     {"{{css}}", std::string{assets::page_css()}},
                                     {"{{body}}", page.body},
                                     {"{{data}}", inside_script(page.data)},
                                     {"{{echarts}}", std::string{assets::echarts()}},
                                     {"{{scripts}}", scripts}});
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

}  // namespace longhaul::results
