#include "results/simulation/document.hh"

#include <fstream>
#include <sstream>

#include "common/json.hh"

namespace longhaul::results {
namespace {

constexpr int kSchema = 1;

// Checks the members that its readers need.
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

Result<boost::json::value> parse_simulation(std::string_view document) {
  boost::system::error_code error;
  auto parsed = read_json(document, error);
  if (error) return refuse("not JSON: {}", error.message());
  if (auto good = check(parsed); !good) return tl::unexpected(good.error());
  return parsed;
}

Result<boost::json::value> read_simulation(const std::filesystem::path& directory) {
  const auto source = directory / "simulate.json";
  std::ifstream stream{source, std::ios::binary};
  if (!stream) return refuse("{}: cannot be read; was it written by `longhaul simulate --out`?", source.string());
  std::ostringstream text;
  text << stream.rdbuf();
  auto document = parse_simulation(text.str());
  if (!document) return refuse("{}: {}", source.string(), document.error().message);
  return document;
}

}  // namespace longhaul::results
