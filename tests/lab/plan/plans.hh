// Plans that several tests look at.
#pragma once

#include <cstdio>
#include <string>

#include "lab/plan/topology.hh"

namespace longhaul::lab {

/// The guest's shell itself says whether it can read a script.
inline bool parses(const std::string& script) {
  FILE* shell = ::popen("dash -n", "w");
  std::fwrite(script.data(), 1, script.size(), shell);
  return ::pclose(shell) == 0;
}

inline LabPlan plan_of(Topology topology, unsigned clients = 1, const std::string& prefix = {}) {
  PlanOptions options{.topology = topology,
                      .clients = clients,
                      .prefix = prefix,
                      .directory = "/run/l",
                      .disk = topology == Topology::systems ? "/cache/disk.ext4" : "",
                      .programs = {"longhaul-agent", "longhaul-bench", "degen"}};
  for (unsigned port = 0; port < ports_needed(topology, clients); ++port)
    options.host_ports.push_back(static_cast<std::uint16_t>(50001 + port));
  return make_plan(options);
}

/// As lab/sealed.cc asks for it: no ports, no directory.
inline LabPlan sealed_plan(unsigned clients = 1) {
  PlanOptions options{.topology = Topology::compact,
                      .clients = clients,
                      .directory = {},
                      .disk = {},
                      .programs = {"longhaul-agent", "longhaul-bench", "degen", "longhaul-sealed"},
                      .sealed = true};
  options.host_ports.resize(ports_needed(options.topology, clients));
  return make_plan(options);
}

inline std::string file_of(const PlannedMachine& machine, const std::string& path) {
  for (const OverlayFile& file : machine.files)
    if (file.path == path) return file.bytes;
  return "(no " + path + ")";
}

}  // namespace longhaul::lab
