// Ansible's inventory -> testbed. A plain YAML file is read here, anything else through ansible-inventory.
#pragma once

#include <string>

#include "common/result.hh"
#include "model/testbed.hh"

namespace longhaul::orchestrator {

/// YAML to JSON of the same shape: plain numbers and booleans become such, everything else text. Errors name file and
/// line.
Result<std::string> yaml_to_json(const std::string& path, const std::string& text);

/// Reads an inventory. Relative paths of credentials are relative to it.
Result<Testbed> load_inventory(const std::string& path);

/// The same where only some of its hosts have agents already: credentials, hosts and ports may be missing.
Result<Testbed> load_partial_inventory(const std::string& path);

/// The whole file. Errors name it.
Result<std::string> read_file(const std::string& path);

}  // namespace longhaul::orchestrator
