// Plans a lab: machines, links, addresses and the QEMU command lines, decided before anything is touched. Pure:
// options in, plan out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "lab/plan/plan.hh"

namespace longhaul::lab {

Result<Topology> parse_topology(std::string_view text);

/// full where every node can have a core of its own, else compact.
Topology choose_topology(Topology asked, unsigned cores, unsigned nodes);

struct PlanOptions {
  Topology topology = Topology::compact;  ///< not automatic
  unsigned clients = 1;
  std::string prefix;  ///< of the nodes' names
  unsigned mtu = 1500;
  unsigned cores = 2;
  std::string directory;                  ///< of the lab: logs and sockets go there
  std::string disk;                       ///< of whole systems: their root file system, never written to
  std::vector<std::string> programs;      ///< names of those present: longhaul-agent, longhaul-bench, degen
  std::vector<std::uint16_t> host_ports;  ///< free ones, at least ports_needed()
  bool sealed = false;                    ///< compact, and nothing of it is reached from outside (lab/sealed.hh)
};

/// The nodes that a lab with so many clients has: "client", "client2" ..., "server", "router", each after the prefix.
/// An agent reads its certificate from /etc/longhaul/agent-<node>.pem and .key, the CA from /etc/longhaul/ca.pem.
std::vector<std::string> node_names(unsigned clients, const std::string& prefix = {});

/// Refuses what would make names that nodes cannot have.
Result<void> check_prefix(std::string_view prefix);

/// The kernel command line of every guest.
const char* kernel_arguments();

/// The number of free TCP ports of the host that a plan takes.
unsigned ports_needed(Topology topology, unsigned clients);

LabPlan make_plan(const PlanOptions& options);

}  // namespace longhaul::lab
