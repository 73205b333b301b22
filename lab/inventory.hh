// The lab as an Ansible inventory: the only node list that the orchestrator knows. Pure.
#pragma once

#include <string>

#include "lab/topology.hh"

namespace longhaul::lab {

struct InventoryOptions {
  bool emulated = false;
  std::string ca, cert, key;
};

std::string make_inventory(const Plan& plan, const InventoryOptions& options);

}  // namespace longhaul::lab
