// A page as one file: a template with everything put in, so that it works alone, offline and from file://.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace longhaul::results {

/// Puts each text in the place of its {{name}}. What was put in is not searched for names again.
std::string fill(std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& parts);

/// The frame of every page: styles, ECharts, the data as JSON, scripts. `title`: plain text.
struct Page {
  std::string title;
  std::string body;
  std::string data;
  std::string scripts;
};
std::string standalone(const Page& page);

/// The Content-Security-Policy (W3C CSP Level 3) of a page that runs these scripts, has these styles, and nothing else
/// of either: no other script, no style attribute, nothing that is fetched. Each text as it stands between its tags.
std::string policy_of(const std::vector<std::string_view>& scripts, std::string_view styles);

/// JSON as the content of a <script> element.
std::string inside_script(const std::string& json);

}  // namespace longhaul::results
