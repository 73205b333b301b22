#include "workloads/harness/runner.hh"

namespace longhaul::workloads {

void adapt(ConnectionPlan& plan, const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  auto with_transport = parameters;
  with_transport["transport"] = std::string{transport};
  plan.needs = spec.needs(with_transport);
  plan.unused = unused_on(spec, transport);
  if (const auto it = parameters.find("congestion_control"); it != parameters.end() && transport == "tcp")
    plan.congestion_control = std::get<std::string>(it->second);
}

}  // namespace longhaul::workloads
