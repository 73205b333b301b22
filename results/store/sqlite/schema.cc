#include "results/store/sqlite/schema.hh"

#include "results/store/row.hh"

namespace longhaul::results {
namespace {

// A run's status, times and numbers stand beside its document so that resume need not parse documents of megabytes.
constexpr const char* kTables1 = R"(
  CREATE TABLE manifest (one INTEGER PRIMARY KEY CHECK (one = 1), document TEXT NOT NULL);
  CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    cell_id TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    status TEXT NOT NULL,
    started INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    document TEXT NOT NULL);
  CREATE TABLE facts (digest TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID;
)";

constexpr const char* kTables2 = R"(
  CREATE INDEX runs_by_cell ON runs (cell_id);
  CREATE TABLE metrics (
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    metric TEXT NOT NULL,
    value REAL NOT NULL,
    samples INTEGER NOT NULL,
    PRIMARY KEY (run_id, metric)) WITHOUT ROWID;
)";

}  // namespace

Result<void> create_schema(Database& database) {
  auto transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto sql = fmt::format("{}{}PRAGMA application_id = {}; PRAGMA user_version = {};", kTables1, kTables2,
                               kApplicationId, kStoreSchema);
  if (auto made = database.execute(sql); !made) return made;
  return transaction->commit();
}

Result<StoreState> inspect(const Database& database) {
  const auto tables = database.integer("SELECT count(*) FROM sqlite_master");
  if (!tables) return tl::unexpected(tables.error());
  const auto application = database.integer("PRAGMA application_id");
  if (!application) return tl::unexpected(application.error());
  const auto version = database.integer("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (*tables == 0) return StoreState{.empty = true, .version = kStoreSchema};
  if (*application != kApplicationId)
    return refuse("{}: a database, but not one of longhaul's: name a directory that `longhaul run --out` made",
                  database.name());
  if (*version > kStoreSchema)
    return refuse("{}: its schema {} is newer than this program's {}: use the longhaul that wrote it, or a newer one",
                  database.name(), *version, kStoreSchema);
  if (*version < 1)
    return refuse("{}: schema {} is none that longhaul ever wrote: the file is damaged", database.name(), *version);
  return StoreState{.empty = false, .version = *version};
}

Result<void> upgrade_schema(Database& database, std::int64_t version) {
  if (version >= kStoreSchema) return {};
  auto transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  if (version < 2) {
    if (auto made = database.execute(kTables2); !made) return made;
    if (auto filled = fill_index(database); !filled) return filled;
  }
  if (auto set = database.execute(fmt::format("PRAGMA user_version = {}", kStoreSchema)); !set) return set;
  return transaction->commit();
}

Result<void> index_run(Database& database, const std::string& run_id, const std::vector<StoredMetric>& metrics) {
  for (const auto& metric : metrics) {
    auto insert = database.prepare("INSERT INTO metrics (run_id, metric, value, samples) VALUES (?1, ?2, ?3, ?4)");
    if (!insert) return tl::unexpected(insert.error());
    insert->bind(1, run_id).bind(2, metric.name).bind(3, metric.value).bind(4, metric.samples);
    if (auto done = insert->step(); !done) return tl::unexpected(done.error());
  }
  return {};
}

Result<void> fill_index(Database& database) {
  if (auto emptied = database.execute("DELETE FROM metrics"); !emptied) return emptied;
  auto select = database.prepare("SELECT document FROM runs ORDER BY sequence");
  if (!select) return tl::unexpected(select.error());
  while (true) {
    const auto row = select->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    const auto run = run_record_from_json(select->text(0));
    if (!run) return refuse("{}: a run's record cannot be read: {}", database.name(), run.error().message);
    const auto indexed = row_of(*run);
    if (!indexed) return tl::unexpected(indexed.error());
    if (auto filled = index_run(database, indexed->run_id, indexed->metrics); !filled) return filled;
  }
}

}  // namespace longhaul::results
