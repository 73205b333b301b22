#include "orchestrator/cli/ansible.hh"

#include <boost/json.hpp>
#include <filesystem>
#include <set>
#include <system_error>

#include "common/child.hh"
#include "common/json.hh"
#include "common/log.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

void collect(const json::object& groups, const std::string& name, std::set<std::string>& hosts,
             std::set<std::string>& seen) {
  const auto* group = groups.if_contains(name);
  if (group == nullptr || !group->is_object() || !seen.insert(name).second) return;
  const auto each = [&](const char* key, auto&& take) {
    const auto* list = group->as_object().if_contains(key);
    if (list == nullptr || !list->is_array()) return;
    for (const auto& one : list->as_array())
      if (one.is_string()) take(std::string{one.as_string()});
  };
  each("hosts", [&](const std::string& host) { hosts.insert(host); });
  each("children", [&](const std::string& child) { collect(groups, child, hosts, seen); });
}

// INI leaves these as text.
json::value truth_of(const json::value& value) {
  if (!value.is_string()) return value;
  const std::string text{value.as_string()};
  if (text == "true" || text == "yes") return true;
  if (text == "false" || text == "no") return false;
  return value;
}

}  // namespace

bool needs_ansible(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return true;
  const auto extension = fs::path{path}.extension();
  if (extension != ".yml" && extension != ".yaml") return true;
  const auto folder = fs::absolute(path, ignored).parent_path();
  return fs::is_directory(folder / "group_vars", ignored) || fs::is_directory(folder / "host_vars", ignored);
}

Result<std::string> list_inventory(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return refuse("{}: {}", path, errno_text(ENOENT));
  std::string complaint;
  try {
    auto listed = run_command({"ansible-inventory", "-i", path, "--list"}, &complaint);
    if (listed.exit.ok()) return std::move(listed.out);
    return refuse("{}: ansible-inventory: {}", path, complaint.empty() ? listed.exit.text() : complaint);
  } catch (const std::system_error&) {
    return refuse(
        "{}: only Ansible reads such an inventory (it is no plain YAML file, or has group_vars or host_vars beside "
        "it), and ansible-inventory is not installed: apt install ansible-core",
        path);
  }
}

Result<std::string> inventory_from_list(std::string_view list) {
  boost::system::error_code error;
  const auto document = read_json(list, error);
  if (error || !document.is_object()) return refuse("ansible-inventory printed what is no JSON object");
  const auto& groups = document.as_object();
  const json::object* host_variables = nullptr;
  if (const auto* meta = groups.if_contains("_meta"); meta != nullptr && meta->is_object())
    if (const auto* variables = meta->as_object().if_contains("hostvars");
        variables != nullptr && variables->is_object())
      host_variables = &variables->as_object();
  json::object children;
  json::object common;
  for (const auto* group : {"clients", "servers", "routers"}) {
    std::set<std::string> hosts;
    std::set<std::string> seen;
    collect(groups, group, hosts, seen);
    json::object described;
    for (const auto& host : hosts) {
      json::object own;
      const auto* found = host_variables == nullptr ? nullptr : host_variables->if_contains(host);
      if (found != nullptr && found->is_object()) {
        for (const auto* name : {"ansible_host", "longhaul_port", "longhaul_attachments", "longhaul_links"})
          if (const auto* value = found->as_object().if_contains(name)) own[name] = *value;
        for (const auto* name :
             {"longhaul_topology", "longhaul_emulated", "longhaul_ca", "longhaul_cert", "longhaul_key"})
          if (const auto* value = found->as_object().if_contains(name)) common[name] = truth_of(*value);
      }
      // As Ansible has it: a host without an address goes by its name.
      if (!own.contains("ansible_host")) own["ansible_host"] = host;
      described[host] = std::move(own);
    }
    if (!described.empty()) children[group] = json::object{{"hosts", std::move(described)}};
  }
  return json::serialize(
      json::object{{"all", json::object{{"vars", std::move(common)}, {"children", std::move(children)}}}});
}

}  // namespace longhaul::orchestrator
