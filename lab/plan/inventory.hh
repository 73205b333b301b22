// The lab as an Ansible inventory: the only node list that the orchestrator knows. Pure.
#pragma once

#include <string>

#include "lab/plan/plan.hh"

namespace longhaul::lab {

struct InventoryOptions {
  bool emulated = false;
  std::string ca, cert, key;
  std::string directory;    ///< of the lab: the key to its systems is there
  std::string program_dir;  ///< of longhaul; the packages made beside it are what the collection installs
};

std::string make_inventory(const LabPlan& plan, const InventoryOptions& options);

}  // namespace longhaul::lab
