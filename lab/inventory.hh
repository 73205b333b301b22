// The lab as an Ansible inventory: the only node list that the orchestrator knows. Pure.
#pragma once

#include <string>

#include "lab/topology.hh"

namespace longhaul::lab {

/// Ends the topology's name where packets are steered: results of both kinds are not to be mixed.
inline constexpr const char* kSteered = "-steered";

struct InventoryOptions {
  bool emulated = false;
  std::string ca, cert, key;
};

std::string make_inventory(const Plan& plan, const InventoryOptions& options);

}  // namespace longhaul::lab
