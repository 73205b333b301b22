#include "orchestrator/run/testbeds.hh"

#include <algorithm>
#include <tuple>
#include <utility>

namespace longhaul::orchestrator {
namespace {

Result<void> check_machines(const KnownTestbed& first, const Node& one, const KnownTestbed& second, const Node& other) {
  const auto here = first.facts.find(one.name), there = second.facts.find(other.name);
  if (here == first.facts.end() || there == second.facts.end()) return {};
  const auto& a = here->second;
  const auto& b = there->second;
  for (const auto& [what, its, others] :
       {std::tuple{"kernel", a.kernel, b.kernel}, std::tuple{"processor", a.cpu_model, b.cpu_model},
        std::tuple{"number of processors", std::to_string(a.cpus), std::to_string(b.cpus)},
        std::tuple{"longhaul", a.longhaul_version, b.longhaul_version}})
    if (its != others)
      return refuse(
          "testbeds {} and {} are not alike: the {} of {} is {}, of {} {}; a cell's runs would be spread over both. "
          "Make the campaign once on each and compare them (longhaul compare)",
          first.name, second.name, what, one.name, its, other.name, others);
  return {};
}

}  // namespace

Result<void> check_apart(const std::vector<std::string>& names, const std::vector<Testbed>& testbeds) {
  std::map<std::string, std::string> nodes;
  std::map<std::pair<std::string, int>, std::pair<std::string, std::string>> agents;
  for (std::size_t i = 0; i < testbeds.size(); ++i) {
    if (testbeds[i].topology != testbeds.front().topology)
      return refuse("testbeds {} and {} are not alike: one's topology is {}, the other's {}", names.front(), names[i],
                    testbeds.front().topology, testbeds[i].topology);
    for (const auto& node : testbeds[i].nodes) {
      if (const auto [known, added] = nodes.emplace(node.name, names[i]); !added)
        return refuse("testbeds {} and {} both have a node {}: give nodes names of their own, for records name them",
                      known->second, names[i], node.name);
      const auto [known, added] = agents.emplace(std::pair{node.host, node.port}, std::pair{names[i], node.name});
      if (!added)
        return refuse("node {} of {} and node {} of {} are one agent, {} port {}: an agent belongs to one testbed",
                      known->second.second, known->second.first, node.name, names[i], node.host, node.port);
    }
  }
  return {};
}

Result<void> check_alike(const KnownTestbed& first, const KnownTestbed& second) {
  for (const auto role : {Role::client, Role::server, Role::router}) {
    const auto here = first.testbed.with_role(role), there = second.testbed.with_role(role);
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i)
      if (auto alike = check_machines(first, *here[i], second, *there[i]); !alike) return alike;
  }
  return {};
}

}  // namespace longhaul::orchestrator
