// The deciding half of an engine. Pure: campaigns ask it before anything runs, on machines that impair nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "degen/impairment/plan.hh"

namespace longhaul::degen {

/// The kernel objects of a plan, to be removed after a crash.
struct Footprint {
  std::vector<std::string> interfaces;  ///< whose root qdisc, or filters, are degen's
  bool table = false;                   ///< degen's nft table is there
};

/// What the names of a way's axes end with: "" or "_back".
constexpr std::string_view suffix_of(Way way) {
  return way == Way::forward ? "" : "_back";
}

struct Planner {
  std::string name;
  int preference = 0;  ///< auto takes the engine with the lowest that can do what is asked (choice.hh)
  /// Refuses what the engine cannot do; the refusal names engine and axis.
  Result<void> (*check)(const Impairment& impairment);
  Footprint (*footprint)(const ImpairmentPlan& plan);
};

/// Those of all engines, the first is used where none is named. Generated from the list in degen/engines/engines.cmake.
const std::vector<Planner>& planners();
/// Throws std::out_of_range where there is no such engine.
const Planner& planner(std::string_view engine);

std::vector<std::string> engine_names();

/// Refuses an unknown engine, and what the engine cannot do; of `auto` what none can.
Result<void> check_engine(const Impairment& impairment, std::string_view engine);

/// make_plan for what check_engine does not refuse.
Result<ImpairmentPlan> plan_for(const Impairment& impairment, std::string_view engine, const Sides& sides,
                                const Lateness& lateness, const Seed& seed = {});

}  // namespace longhaul::degen
