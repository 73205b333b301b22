// Inventories that only Ansible itself can read: INI, group_vars, nested groups, patterns of hosts.
#pragma once

#include <string>
#include <string_view>

#include "common/result.hh"

namespace longhaul::orchestrator {

/// True if an inventory is more than one plain YAML file: another format, or variables in folders beside it.
bool needs_ansible(const std::string& path);

/// The output of `ansible-inventory --list` for it. Refuses where that program is missing or refuses.
Result<std::string> list_inventory(const std::string& path);

/// That, as the JSON that testbed_from_inventory() takes: groups flattened, each host with what concerns us. Pure.
Result<std::string> inventory_from_list(std::string_view list);

}  // namespace longhaul::orchestrator
