// The files that the page inlines, as bytes of this program.
#pragma once

#include <string_view>

namespace longhaul::results::assets {

std::string_view echarts();
std::string_view shell_html();
std::string_view page_html();
std::string_view page_css();
/// All scripts of the report page as one (results/CMakeLists.txt has their order).
std::string_view page_js();
/// Of pages that draw one document: scale.js, small.js, and its own.
std::string_view scale_js();
std::string_view small_js();
std::string_view comparison_html();
std::string_view comparison_js();
std::string_view history_html();
std::string_view history_js();
std::string_view simulation_html();
std::string_view simulation_js();

}  // namespace longhaul::results::assets
