// The store of one campaign: documents verbatim, and an index that can be made again from them.
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
#include "results/store/address.hh"
#include "results/store/mode.hh"

namespace longhaul::results {

class Backend;

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

/// Move-only owner of a campaign's results: DIR/results.db (SQLite), or a campaign in a PostgreSQL database. One writer
/// at a time (a second one is refused, also across processes); readers may come and go meanwhile. All errors name the
/// file or the address and a remedy; after an error of a writing function everything committed before is still there
/// and the store stays usable. Not for use by two threads at once.
class Store {
 public:
  /// `address`: a run directory, or postgresql://HOST/DATABASE#CAMPAIGN. A directory with a file `store` in it leads to
  /// PostgreSQL (address.hh). To create: the directory is made.
  static Result<Store> open(const std::filesystem::path& address, OpenMode mode);
  /// A campaign in PostgreSQL, to which `directory`, which is made, will lead. Refused when it leads elsewhere.
  static Result<Store> open_at(const std::filesystem::path& directory, const PostgresAddress& address, OpenMode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// Empty: it was opened by the address of a PostgreSQL database.
  const std::filesystem::path& directory() const;

  /// Replaces the manifest, in the store and (by rename, so never half) in DIR/manifest.json.
  Result<void> save_manifest(const Manifest& manifest);
  Result<Manifest> manifest() const;

  /// Committed and on the disk when it returns. A run_id that is already there is refused.
  Result<void> add_run(const RunRecord& run);
  /// How many runs there are: cheaper than index().
  Result<std::size_t> count() const;
  /// All runs in the order in which they were added, or those behind the first `from`.
  Result<std::vector<RunRecord>> runs(std::size_t from = 0) const;
  /// The same as index rows: cheap, no document is parsed.
  Result<std::vector<RunSummary>> index() const;

  /// Stored once per digest; adding it again changes nothing.
  Result<void> add_facts(const std::string& digest, const NodeFacts& facts);
  Result<std::map<std::string, NodeFacts>> facts() const;

  /// Adds all documents to `to`, byte by byte, and its manifest last: a copy that was interrupted has none, and is gone
  /// on with by copying again. Returns how many runs were added.
  Result<std::size_t> copy_to(Store& to) const;

 private:
  Store(std::filesystem::path directory, std::unique_ptr<Backend> backend);
  Result<void> keep_manifest(const std::string& document);
  std::filesystem::path directory_;
  std::unique_ptr<Backend> backend_;
};

/// True when `address` (as for Store::open) leads to a campaign's results, whole or not.
bool holds_store(const std::filesystem::path& address);

}  // namespace longhaul::results
