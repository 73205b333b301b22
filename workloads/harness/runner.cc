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

std::map<std::string, Metric> chosen(const Parameters& asked, const Parameters& settled) {
  std::map<std::string, Metric> metrics;
  for (const auto& [name, value] : settled) {
    const auto before = asked.find(name);
    if (before != asked.end() && before->second == value) continue;
    metrics["chosen_" + name] = to_metric(static_cast<double>(std::get<std::int64_t>(value)), 1);
  }
  return metrics;
}

const Runner* find_runner(const std::vector<Runner>& runners, std::string_view workload) {
  for (const auto& runner : runners)
    if (runner.workload == workload) return &runner;
  return nullptr;
}

}  // namespace longhaul::workloads
