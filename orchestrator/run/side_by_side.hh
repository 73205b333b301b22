// Runs that are copies of a sealed lab, several at once on threads of their own; what comes of them is taken by the
// caller's thread, one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"
#include "orchestrator/run/schedule.hh"

namespace longhaul::orchestrator {

struct SideBySide {
  std::size_t workers = 1;
  /// Makes one run and returns what its copy said. Called on the workers' threads; ends soon once `stopped` is true.
  std::function<Result<std::string>(const PlannedRun& run, const std::function<bool()>& stopped)> make;
  /// Takes what was said, on the caller's thread; returns a run that is to be made in addition. An error ends it all.
  std::function<Result<std::optional<PlannedRun>>(const PlannedRun& run, const Result<std::string>& said)> take;
  /// Polled; true ends it all.
  std::function<bool()> interrupted;
};

/// Makes all runs. An error is that of `take`, or ExitCode::interrupted; what is under way is ended then. What `make` or
/// `take` throws (a broken environment) ends it all likewise and is thrown here.
Result<void> run_side_by_side(const std::vector<PlannedRun>& runs, const SideBySide& options);

}  // namespace longhaul::orchestrator
