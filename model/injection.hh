// A fault that is injected into a run: what is done to whom, and at which moment of the run. Pure.
#pragma once

#include <boost/describe.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "model/record.hh"
#include "model/units.hh"

namespace longhaul {

/// One injection. In words: "kill bench@client at window".
struct Injection {
  std::string fault;   ///< of fault_specs()
  std::string target;  ///< of those that the fault has
  std::string moment;  ///< of run_moments()
  bool operator==(const Injection&) const = default;
};
BOOST_DESCRIBE_STRUCT(Injection, (), (fault, target, moment))

/// A kind of fault, and what it can hit.
struct FaultSpec {
  std::string name;
  std::vector<std::string> targets;
  Nanoseconds lasts{0};  ///< then it is undone; 0: nothing undoes it but the testbed itself
  /// A machine that is gone takes its run with it: nothing is left that could measure again.
  bool fatal = false;
  std::string text;  ///< what is done, for people
};
const std::vector<FaultSpec>& fault_specs();

/// A moment of a run, in the order in which they come.
struct MomentSpec {
  std::string name;
  std::string text;
};
const std::vector<MomentSpec>& run_moments();

/// "agent@client" is the agent of the first client: its program, and which node's. A node's name where none is said.
struct InjectionTarget {
  std::string program;  ///< agent, bench, node (all of it), degen; a mount point; a clock's step; machine
  std::string role;     ///< client, server, router; empty: the target is not a node's
};
InjectionTarget target_of(const Injection& injection);

inline constexpr std::string_view kInjectionDone = "done";

/// What a copy of a lab said of its run.
struct RunStory {
  std::string injected;             ///< kInjectionDone, or why not; empty: nothing was to be, or its moment never came
  std::vector<RunRecord> attempts;  ///< the last counts; one at least
  std::optional<std::size_t> resumed;  ///< so many attempts are of the session before the last
};

/// Every fault of every target at every moment; by fault, target and moment, in the specs' order.
std::vector<Injection> all_injections();

std::string to_words(const Injection& injection);
/// Refuses words that name no fault, no target of it or no moment; the error lists what there is.
Result<Injection> injection_from_words(std::string_view words);

const FaultSpec* find_fault(std::string_view name);

}  // namespace longhaul
