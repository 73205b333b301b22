#include "orchestrator/cli/inventory.hh"

#include <yaml-cpp/yaml.h>

#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/log.hh"
#include "common/number.hh"
#include "orchestrator/cli/ansible.hh"

namespace longhaul::orchestrator {
namespace {

namespace json = boost::json;

constexpr int kDeepest = 64;
constexpr std::size_t kMostNodes = 1'000'000;  // aliases multiply

json::value convert(const YAML::Node& node, int depth, std::size_t& count) {
  if (depth > kDeepest || ++count > kMostNodes)
    throw YAML::RepresentationException(node.Mark(), "nested too deep or too large");
  if (node.IsMap()) {
    json::object object;
    for (const auto& entry : node) {
      const auto& key = entry.first.Scalar();
      if (object.contains(key))
        throw YAML::RepresentationException(entry.first.Mark(), fmt::format("key '{}' is given twice", key));
      object.emplace(key, convert(entry.second, depth + 1, count));
    }
    return object;
  }
  if (node.IsSequence()) {
    json::array array;
    for (const auto& item : node) array.push_back(convert(item, depth + 1, count));
    return array;
  }
  if (!node.IsScalar()) return nullptr;
  const auto& text = node.Scalar();
  if (node.Tag() == "!") return json::value(text);  // quoted
  if (text == "true" || text == "True" || text == "yes") return true;
  if (text == "false" || text == "False" || text == "no") return false;
  std::int64_t number = 0;
  if (read_number(text, number)) return number;
  return json::value(text);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return refuse("{}: is a directory, expected a file", path);
  std::ifstream in{path, std::ios::binary};
  std::stringstream text;
  if (!in) return refuse("{}: {}", path, errno_text(errno));
  text << in.rdbuf();
  return text.str();
}

Result<std::string> yaml_to_json(const std::string& path, const std::string& text) {
  try {
    std::size_t count = 0;
    return json::serialize(convert(YAML::Load(text), 0, count));
  } catch (const YAML::Exception& error) {
    return refuse("{}:{}:{}: {}", path, error.mark.line + 1, error.mark.column + 1, error.msg);
  }
}

namespace {

Result<std::string> read_inventory(const std::string& path) {
  if (needs_ansible(path)) {
    const auto list = list_inventory(path);
    return list ? inventory_from_list(*list) : list;
  }
  const auto text = read_file(path);
  return text ? yaml_to_json(path, *text) : text;
}

}  // namespace

Result<Testbed> load_partial_inventory(const std::string& path) {
  const auto document = read_inventory(path);
  if (!document) return tl::unexpected(document.error());
  auto testbed = testbed_from_inventory(*document);
  if (!testbed) return refuse("{}: {}", path, testbed.error().message);
  const auto folder = std::filesystem::absolute(path).parent_path();
  for (auto* file : {&testbed->ca, &testbed->cert, &testbed->key})
    if (!file->empty()) *file = (folder / *file).lexically_normal().string();
  return testbed;
}

Result<Testbed> load_inventory(const std::string& path) {
  auto testbed = load_partial_inventory(path);
  if (!testbed) return testbed;
  for (const auto& [name, file] : {std::pair{"longhaul_ca", &testbed->ca}, std::pair{"longhaul_cert", &testbed->cert},
                                   std::pair{"longhaul_key", &testbed->key}})
    if (file->empty())
      return refuse("{}: all.vars.{} is missing; agents obey only who has a certificate (longhaul pki issue)", path,
                    name);
  for (const auto& node : testbed->nodes)
    if (node.host.empty() || node.port == 0)
      return refuse("{}: host {} needs ansible_host and longhaul_port", path, node.name);
  return testbed;
}

}  // namespace longhaul::orchestrator
