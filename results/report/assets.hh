// The files that the page inlines, as bytes of this program.
#pragma once

#include <string_view>

namespace longhaul::results::assets {

std::string_view echarts();
std::string_view shell_html();
std::string_view page_html();
std::string_view page_css();
/// In the order in which they must stand: scale.js, model.js, charts.js, claims.js, tables.js, surface.js, cpu.js,
/// transfers.js, page.js.
std::string_view scale_js();
std::string_view model_js();
std::string_view charts_js();
std::string_view claims_js();
std::string_view tables_js();
std::string_view surface_js();
std::string_view cpu_js();
std::string_view transfers_js();
std::string_view page_js();
/// Those of simulate.html: scale.js, simulation.js.
std::string_view simulation_html();
std::string_view simulation_js();

}  // namespace longhaul::results::assets
