// The store of one campaign: DIR/results.db. Documents verbatim, and an index that can be rebuilt from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.hh"
#include "model/facts.hh"
#include "model/manifest.hh"
#include "model/record.hh"

namespace longhaul::results {

enum class OpenMode {
  create,  ///< DIR is made; refused when it already holds a campaign
  resume,  ///< DIR must hold a campaign; older schemas are upgraded in place
  read     ///< never changes the file; an older schema is upgraded in a copy in memory
};

/// One row of the index: what scheduling and resume need of a run, without its document.
struct RunSummary {
  std::string run_id;
  std::string cell_id;
  int repetition = 0;
  int attempt = 0;
  Status status = Status::ok;
  std::int64_t started = 0;
  std::int64_t finished = 0;
  std::string digest;                     ///< of all that it measured, by a virtual clock
  std::map<std::string, double> metrics;  ///< by name, base units (metrics/metrics.hh says whose value it is)
};

/// Names a NodeFacts by its content: 16 hex digits of the SHA-256 of its document.
std::string facts_digest(const NodeFacts& facts);

/// Move-only owner. One writer at a time (a second one is refused, also across processes); readers may come and go
/// meanwhile. SQLite in WAL mode with synchronous=FULL. All errors name the file and a remedy; after an error of a
/// writing function everything committed before is still there and the store stays usable. Not for use by two threads
/// at once.
class Store {
 public:
  static Result<Store> open(const std::filesystem::path& directory, OpenMode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::filesystem::path& directory() const;

  /// Replaces the manifest, in the store and (by rename, so never half) in DIR/manifest.json.
  Result<void> save_manifest(const Manifest& manifest);
  Result<Manifest> manifest() const;

  /// Committed and on the disk when it returns. A run_id that is already there is refused.
  Result<void> add_run(const RunRecord& run);
  /// All runs in the order in which they were added.
  Result<std::vector<RunRecord>> runs() const;
  /// The same as index rows: cheap, no document is parsed.
  Result<std::vector<RunSummary>> index() const;

  /// Stored once per digest; adding it again changes nothing.
  Result<void> add_facts(const std::string& digest, const NodeFacts& facts);
  Result<std::map<std::string, NodeFacts>> facts() const;

  /// Drops the index and makes it again from the documents.
  Result<void> rebuild_index();

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace longhaul::results
