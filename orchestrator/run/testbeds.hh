// Several testbeds that share a campaign: what must differ between them, and what must not. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/result.hh"
#include "model/facts.hh"
#include "model/testbed.hh"

namespace longhaul::orchestrator {

/// Refuses two that have a node's name or an agent in common (records name nodes; one agent cannot serve two
/// campaigns at a time), and two of different topologies. `names`: of the testbeds, for the message.
Result<void> check_apart(const std::vector<std::string>& names, const std::vector<Testbed>& testbeds);

struct KnownTestbed {
  std::string name;
  const Testbed& testbed;
  const std::map<std::string, NodeFacts>& facts;  ///< by node
};

/// Refuses two whose clients, servers or routers are other machines: another kernel, processor, number of processors or
/// build of longhaul. A cell's runs are spread over the testbeds, and must not come from different machines.
Result<void> check_alike(const KnownTestbed& first, const KnownTestbed& second);

}  // namespace longhaul::orchestrator
