#include "results/simulation/page.hh"

#include "common/replace_file.hh"
#include "results/report/assets.hh"
#include "results/report/small_page.hh"
#include "results/simulation/document.hh"

namespace longhaul::results {
namespace {

// The page draws what is there.
std::string page_of(const boost::json::value& document) {
  return small_page({.title = "registration caches",
                     .body = std::string{assets::simulation_html()},
                     .data = boost::json::serialize(document),
                     .scripts = std::string{assets::simulation_js()}});
}

}  // namespace

Result<std::string> simulation_page(std::string_view document) {
  const auto parsed = parse_simulation(document);
  if (!parsed) return tl::unexpected(parsed.error());
  return page_of(*parsed);
}

Result<std::filesystem::path> write_simulation_page(const std::filesystem::path& directory) {
  const auto document = read_simulation(directory);
  if (!document) return tl::unexpected(document.error());
  auto target = directory / "simulate.html";
  if (auto written = replace_file(target, page_of(*document)); !written) return tl::unexpected(written.error());
  return target;
}

}  // namespace longhaul::results
