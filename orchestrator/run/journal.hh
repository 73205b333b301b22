// The store of a campaign's runs, and the runs of an earlier session in it.
#pragma once

#include <optional>
#include <string>

#include "common/result.hh"
#include "model/facts.hh"
#include "model/manifest.hh"
#include "model/record.hh"

namespace longhaul::orchestrator {

/// Takes the records of runs. A run is finished when add_run returns. An error (disk full) ends the campaign. Used by
/// one thread at a time.
class Journal {
 public:
  virtual ~Journal() = default;
  /// Returns the digest under which records refer to these facts.
  virtual Result<std::string> add_facts(const NodeFacts& facts) = 0;
  virtual Result<void> add_run(const RunRecord& record) = 0;
  virtual Result<void> save_manifest(const Manifest& manifest) = 0;
};

/// A run that an earlier session left in the journal.
struct EarlierRun {
  std::string cell_id;
  int repetition = 0;
  int attempt = 0;
  Status status = Status::ok;
  std::optional<double> value;  ///< of the headline metric
  std::string digest;           ///< of all that it measured, by a virtual clock
};

}  // namespace longhaul::orchestrator
