// Asks every node of a testbed what a diagnosis needs; changes nothing that lasts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "orchestrator/run/control.hh"
#include "orchestrator/run/diagnosis.hh"

namespace longhaul::orchestrator {

struct Examination {
  std::map<std::string, Examined> nodes;
  std::vector<TriedPath> paths;
};

/// One try a node. Paths are tried with a few probes each, from every client to every server, where both answer.
Awaitable<Examination> examine(const Testbed& testbed, Dialer& dialer);

}  // namespace longhaul::orchestrator
