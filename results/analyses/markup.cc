#include "results/analyses/markup.hh"

namespace longhaul::results {

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
