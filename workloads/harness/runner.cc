#include "workloads/harness/runner.hh"

namespace longhaul::workloads {

void adapt(ConnectionPlan& plan, const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  auto with_transport = parameters;
  with_transport["transport"] = std::string{transport};
  plan.needs = spec.needs(with_transport);
  plan.unused = unused_on(spec, transport);
  if (const auto it = parameters.find("congestion_control");
      it != parameters.end() && offers(transport, Capability::stream))
    plan.congestion_control = std::get<std::string>(it->second);
}

const Runner* find_runner(const std::vector<Runner>& runners, std::string_view workload) {
  for (const auto& runner : runners)
    if (runner.workload == workload) return &runner;
  return nullptr;
}

}  // namespace longhaul::workloads
