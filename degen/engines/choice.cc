#include "degen/engines/choice.hh"

#include <algorithm>

#include "degen/engines/planner.hh"

namespace longhaul::degen {

Result<EngineChoice> choose_engine(const Impairment& impairment, const Unable& unable) {
  auto order = planners();
  std::sort(order.begin(), order.end(),
            [](const Planner& one, const Planner& other) { return one.preference < other.preference; });
  std::string reasons;
  for (const auto& planner : order) {
    std::string reason;
    if (const auto able = planner.check(impairment); !able)
      reason = able.error().message;
    else if (const auto it = unable.find(planner.name); it != unable.end())
      reason = it->second;
    else
      return EngineChoice{.engine = planner.name, .why = reasons.empty() ? "the first choice" : reasons};
    reasons += fmt::format("{}not {}: {}", reasons.empty() ? "" : "; ", planner.name, reason);
  }
  return refuse("engine: none can do what is asked of it: {}", reasons);
}

}  // namespace longhaul::degen
