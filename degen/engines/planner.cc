#include "degen/engines/planner.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "common/spelling.hh"
#include "degen/engines/choice.hh"

namespace longhaul::degen {

const Planner& planner(std::string_view engine) {
  const auto& all = planners();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Planner& one) { return one.name == engine; });
  if (it == all.end()) throw std::out_of_range(fmt::format("there is no engine {}", engine));
  return *it;
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const auto& one : planners()) names.push_back(one.name);
  return names;
}

Result<void> check_engine(const Impairment& impairment, std::string_view engine) {
  if (engine == kAutoEngine) {
    if (const auto choice = choose_engine(impairment); !choice) return tl::unexpected(choice.error());
    return {};
  }
  const auto names = engine_names();
  if (std::find(names.begin(), names.end(), engine) == names.end()) {
    const auto near = nearest(engine, names);
    return refuse("engine: expected one of {}, {}, got '{}'{}", fmt::join(names, ", "), kAutoEngine, engine,
                  near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  }
  return planner(engine).check(impairment);
}

Result<ImpairmentPlan> plan_for(const Impairment& impairment, std::string_view engine, const Sides& sides,
                                const Lateness& lateness, const Seed& seed) {
  if (const auto ok = check_engine(impairment, engine); !ok) return tl::unexpected(ok.error());
  return make_plan(impairment, std::string{engine}, sides, lateness, seed);
}

}  // namespace longhaul::degen
