// The state of this user's labs between processes: one folder a lab, whose lab.json is written before anything
// is started, so that whoever comes next can clean up after an owner that was killed.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.hh"
#include "common/result.hh"

namespace longhaul::lab {

struct StateNode {
  std::string name;
  std::string machine;
  std::uint16_t ssh_port = 0;
};
BOOST_DESCRIBE_STRUCT(StateNode, (), (name, machine, ssh_port))

struct LabState {
  std::string name;
  std::string topology;
  std::string kernel;  ///< its release; empty while it is starting
  bool emulated = false;
  bool ephemeral = false;
  std::string phase;              ///< starting, up
  std::int64_t owner_pid = 0;     ///< who starts it, and owns it when it is ephemeral
  std::uint64_t owner_start = 0;  ///< in clock ticks since boot: tells the owner from a later process with its number
  std::vector<std::string> machines;
  std::vector<StateNode> nodes;
};
BOOST_DESCRIBE_STRUCT(LabState, (),
                      (name, topology, kernel, emulated, ephemeral, phase, owner_pid, owner_start, machines, nodes))

/// ${XDG_RUNTIME_DIR:-/tmp}/longhaul-<uid>/labs, mode 0700. Throws when it belongs to somebody else.
std::string labs_directory();
std::string lab_directory(const std::string& name);

/// Letters, digits, '-' and '_', at most 32: it becomes part of paths and of command lines.
Result<void> check_name(const std::string& name);

/// A new lab's folder with its first lab.json (this process as owner); refuses a name in use. Cleans dead owners' labs
/// first.
Result<std::string> claim(LabState& state);

/// Writes its lab.json; fails as replace_file does.
Result<void> save(const LabState& state);
std::optional<LabState> load(const std::string& name);

/// Ends the lab's VMs and removes its folder.
void remove_lab(const std::string& name);

/// Removes the labs whose owners died: ephemeral ones, and those that were never finished.
void clean_stale();

std::vector<std::string> lab_names();

}  // namespace longhaul::lab
