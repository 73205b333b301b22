// The shares of a campaign by a virtual clock become one campaign.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/result.hh"
#include "orchestrator/cli/directory.hh"

namespace longhaul::orchestrator {

/// What a part has, or what it has more than before.
struct Portion {
  Manifest manifest;
  std::map<std::string, NodeFacts> facts;  ///< by digest
  std::vector<RunRecord> runs;
};

/// Of a part's store, without its first `from` runs. Where its manifest says that it is finished, all its runs are
/// there.
Result<Portion> read_portion(const results::Store& part, std::size_t from = 0);

/// What shares of one campaign are together, portion by portion. Parts of different campaigns, seeds, clocks, QEMUs or
/// labs are refused; a run that several have must be the same bit by bit. Pure.
class Joining {
 public:
  /// A run that is there already, for comparison.
  using Known = std::function<Result<RunRecord>(const std::string& run_id)>;

  /// A run of an earlier session, whose parts come anew.
  void knows(const std::string& run_id, const std::string& cell_id);
  /// Takes what a part has more than before, and returns the runs that were not there. `name`: of the part, for errors.
  Result<std::vector<RunRecord>> add(const std::string& name, Portion portion, const Known& known);
  /// Of all parts. Not finished while one of them is not, or a cell has no run.
  Manifest manifest() const;

 private:
  struct Part {
    std::string name;
    Manifest manifest;
  };

  std::vector<Part> parts_;      // in the order in which they came
  std::set<std::string> known_;  // run ids
  std::set<std::string> tried_;  // cell ids
};

/// Joins `parts` (run directories, or addresses in PostgreSQL) at `destination`, which must not hold a campaign.
/// Refuses what Joining does, before anything is written. An error leaves nothing in the directory.
Result<void> merge(const std::vector<std::string>& parts, const Destination& destination);

}  // namespace longhaul::orchestrator
