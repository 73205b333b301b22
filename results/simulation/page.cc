#include "results/simulation/page.hh"

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "common/replace_file.hh"
#include "results/report/assets.hh"
#include "results/report/template.hh"

namespace longhaul::results {
namespace {

constexpr int kSchema = 1;

// The page draws what is there; what it needs at all is checked here.
Result<void> check(const boost::json::value& document) {
  const auto* object = document.if_object();
  const auto list = [&](const char* name) {
    const auto* value = object->if_contains(name);
    return value != nullptr && value->is_array() && !value->as_array().empty();
  };
  if (object == nullptr || !list("traces") || !list("profiles") || !list("policies"))
    return refuse("not what `longhaul simulate` writes");
  const auto* schema = object->if_contains("schema");
  if (schema == nullptr || !schema->is_int64() || schema->as_int64() != kSchema)
    return refuse("written by another version of longhaul; run the simulation again");
  return {};
}

}  // namespace

Result<std::string> simulation_page(std::string_view document) {
  boost::system::error_code error;
  const auto parsed = boost::json::parse({document.data(), document.size()}, error);
  if (error) return refuse("not JSON: {}", error.message());
  if (auto good = check(parsed); !good) return tl::unexpected(good.error());
  return standalone({.title = "registration caches",
                     .body = std::string{assets::simulation_html()},
                     .data = boost::json::serialize(parsed),
                     .scripts = std::string{assets::scale_js()} + std::string{assets::simulation_js()}});
}

Result<std::filesystem::path> write_simulation_page(const std::filesystem::path& directory) {
  const auto source = directory / "simulate.json";
  std::ifstream stream{source, std::ios::binary};
  if (!stream) return refuse("{}: cannot be read; was it written by `longhaul simulate --out`?", source.string());
  std::ostringstream text;
  text << stream.rdbuf();
  auto page = simulation_page(text.str());
  if (!page) return refuse("{}: {}", source.string(), page.error().message);
  auto target = directory / "simulate.html";
  if (auto written = replace_file(target, *page); !written) return tl::unexpected(written.error());
  return target;
}

}  // namespace longhaul::results
