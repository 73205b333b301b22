#include "workloads/transport/plan.hh"

#include <algorithm>

namespace longhaul::workloads {

std::vector<std::string> missing(const ConnectionPlan& plan, const std::vector<Capability>& has) {
  std::vector<std::string> names;
  for (const auto need : plan.needs)
    if (std::find(has.begin(), has.end(), need) == has.end())
      names.emplace_back(boost::describe::enum_to_string(need, "?"));
  return names;
}

}  // namespace longhaul::workloads
