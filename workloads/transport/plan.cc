#include "workloads/transport/plan.hh"

#include <algorithm>

namespace longhaul::workloads {

std::size_t whole_pages(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

std::size_t application_offset(const ConnectionPlan& plan) {
  return whole_pages(plan.memory);
}

std::size_t total_memory(const ConnectionPlan& plan) {
  return plan.application == 0 ? plan.memory : application_offset(plan) + plan.application;
}

std::vector<std::string> missing(const ConnectionPlan& plan, const std::vector<Capability>& has) {
  std::vector<std::string> names;
  for (const auto need : plan.needs)
    if (std::find(has.begin(), has.end(), need) == has.end()) names.emplace_back(spoken(need));
  return names;
}

}  // namespace longhaul::workloads
