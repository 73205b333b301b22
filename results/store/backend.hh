// What a database must do for a Store: keep documents verbatim, and beside them the columns of an index.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/result.hh"

namespace longhaul::results {

struct StoredMetric {
  std::string name;
  double value = 0;
  std::int64_t samples = 0;
};

/// A row of `runs`: a run's document, and what is known of it without reading that.
struct StoredRun {
  std::string run_id;
  std::string cell_id;
  int repetition = 0;
  int attempt = 0;
  std::string status;
  std::int64_t started = 0;   ///< CLOCK_REALTIME ns
  std::int64_t finished = 0;  ///< CLOCK_REALTIME ns
  std::string digest;         ///< of all that it measured, by a virtual clock
  std::string workload;       ///< PostgreSQL alone keeps these two in columns, for its views
  std::string parameters;     ///< a JSON object
  std::string document;
  std::vector<StoredMetric> metrics;
};

/// One campaign in one database. All errors name the database and a remedy; what was committed before an error stays.
/// Not for use by two threads at once.
class Backend {
 public:
  virtual ~Backend() = default;
  /// What errors call it.
  virtual const std::string& name() const = 0;

  virtual Result<void> save_manifest(const std::string& document) = 0;
  /// The last one that was saved; empty: none.
  virtual Result<std::string> manifest() const = 0;

  /// Committed and on the disk when it returns: the run and its metrics, or nothing. A run_id that is already there is
  /// refused.
  virtual Result<void> add_run(const StoredRun& run) = 0;
  /// How many there are; no document is read.
  virtual Result<std::size_t> count() const = 0;
  using TakeRun = std::function<Result<void>(const StoredRun&)>;
  /// In the order in which they were added, without the first `from`; an error of `take` ends it. Only run_id and
  /// document are filled in.
  virtual Result<void> each_document(std::size_t from, const TakeRun& take) const = 0;
  /// In the same order, without documents, workloads and parameters.
  virtual Result<std::vector<StoredRun>> index() const = 0;

  /// Stored once per digest; adding it again changes nothing.
  virtual Result<void> add_facts(const std::string& digest, const std::string& document) = 0;
  virtual Result<std::map<std::string, std::string>> facts() const = 0;
};

}  // namespace longhaul::results
