#include "orchestrator/campaign/providers.hh"

#include <algorithm>

namespace longhaul::orchestrator {
namespace {

// Absent from every device of that kind. Devices decide what they have beyond this, when they are asked.
bool lacks(const TransportSpec& transport, const std::string& provider, Capability capability) {
  if (!offers(transport.name, capability)) return true;
  const auto known = transport.lacking.find(provider);
  return known != transport.lacking.end() &&
         std::find(known->second.begin(), known->second.end(), capability) != known->second.end();
}

}  // namespace

std::string unsupported_by_provider(const WorkloadSpec& workload, const Parameters& cell) {
  const auto* transport = find_transport(choice_of(cell, "transport"));
  if (transport == nullptr || !workload.needs) return {};
  const auto provider = transport->provider.empty() ? choice_of(cell, "provider") : transport->provider;
  for (const auto capability : workload.needs(cell))
    if (lacks(*transport, provider, capability))
      return fmt::format("{} over {} has no {}", transport->name, provider, spoken(capability));
  return {};
}

}  // namespace longhaul::orchestrator
