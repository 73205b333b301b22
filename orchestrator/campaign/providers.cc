#include "orchestrator/campaign/providers.hh"

#include <algorithm>

namespace longhaul::orchestrator {
namespace {

// Absent from every device of that kind. Devices decide what they have beyond this, when they are asked.
bool lacks(const std::string& transport, const std::string& provider, Capability capability) {
  if (transport == "tcp") return capability != Capability::stream && capability != Capability::event_completion;
  if (capability == Capability::stream) return true;
  // iWARP has write-with-immediate since RFC 7306 only; siw of Linux does not do it.
  return provider == "siw" && capability == Capability::write_with_immediate;
}

}  // namespace

std::string unsupported_by_provider(const WorkloadSpec& workload, const Parameters& cell) {
  const auto transport = choice_of(cell, "transport");
  if (transport.empty() || !workload.needs) return {};
  const auto provider = transport == "tcp" ? std::string{"kernel"} : choice_of(cell, "provider");
  for (const auto capability : workload.needs(cell)) {
    if (!lacks(transport, provider, capability)) continue;
    switch (capability) {
      case Capability::stream:
        return fmt::format("{} over {} has no byte stream", transport, provider);
      case Capability::send_receive:
        return fmt::format("{} over {} has no send and receive", transport, provider);
      case Capability::write:
        return fmt::format("{} over {} has no remote write", transport, provider);
      case Capability::write_with_immediate:
        return fmt::format("{} over {} has no write with immediate", transport, provider);
      case Capability::read:
        return fmt::format("{} over {} has no remote read", transport, provider);
      case Capability::event_completion:
        return fmt::format("{} over {} has no completion by event", transport, provider);
    }
  }
  return {};
}

}  // namespace longhaul::orchestrator
