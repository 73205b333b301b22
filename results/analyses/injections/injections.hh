// What injected faults did to runs: each beside the same run undisturbed. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/injection.hh"
#include "model/record.hh"
#include "results/summary/vocabulary.hh"

namespace longhaul::results {

/// How a run ended into which a fault was injected.
enum class InjectionEnd {
  nothing_to_hit,  ///< the run has no such moment, or nobody of that name was there at it
  counts,          ///< it counts at the first attempt
  again,    ///< it does not count and says why; the testbed was whole again by itself, and a later attempt counts
  resumed,  ///< no attempt of the session counts, but one of the next, when the fault was over
  ended,    ///< none counts
};
std::string to_string(InjectionEnd end);

struct InjectionOutcome {
  std::string cell;  ///< for people
  Injection injection;
  InjectionEnd end = InjectionEnd::ended;
  std::vector<std::string> messages;  ///< of the attempts that do not count, in their order
  std::optional<double> off;          ///< what counts against the run undisturbed: 0.01 is 1 % more; of the headline
  /// What must never be: a figure that counts and is off, a failure without a word, a testbed that does not recover
  /// from what passes. Empty: nothing of that.
  std::string wrong;
};

Result<InjectionOutcome> judge(const Injection& injection, std::string cell, const RunStory& story,
                               const RunRecord& undisturbed, const Vocabulary& vocabulary);

/// A table of each cell: faults by moments. `markdown`: for a page of documentation.
std::string to_text(const std::vector<InjectionOutcome>& outcomes, bool markdown);
std::string to_json(const std::vector<InjectionOutcome>& outcomes);

}  // namespace longhaul::results
