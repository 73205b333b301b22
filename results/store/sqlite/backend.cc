#include "results/store/sqlite/backend.hh"

#include <sys/stat.h>

#include <optional>
#include <tuple>

#include "common/log.hh"
#include "results/store/sqlite/database.hh"
#include "results/store/sqlite/lock.hh"
#include "results/store/sqlite/schema.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "results.db";

// A path as an SQLite URI: what has a meaning there is escaped. SQLITE_OPEN_NOFOLLOW refuses a link anywhere in a path,
// and those of the directory are the user's own.
std::string uri_of(const fs::path& path, const char* query) {
  std::error_code error;
  const auto directory = fs::canonical(fs::absolute(path).parent_path(), error);
  std::string uri = "file:";
  for (const char c : error ? fs::absolute(path).string() : (directory / path.filename()).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      uri += c;
    }
  }
  return uri + query;
}

Result<void> check_whole(const Database& database) {
  const auto verdict = database.text("PRAGMA quick_check(1)");
  if (!verdict) return tl::unexpected(verdict.error());
  if (*verdict != "ok") return database_error(database.name(), SQLITE_CORRUPT, *verdict);
  return {};
}

// Committed means on the disk: FULL syncs the log at every commit. A run takes a second, a sync some milliseconds.
Result<void> configure_writer(Database& database, Medium medium) {
  return database.execute(fmt::format("PRAGMA journal_mode = {}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
                                      medium == Medium::network ? "DELETE" : "WAL"));
}

Result<Database> open_writer(const fs::path& path, OpenMode mode, Medium medium) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | (mode == OpenMode::create ? SQLITE_OPEN_CREATE : 0);
  auto database = Database::open(uri_of(path, ""), path.string(), flags);
  if (!database) return database;
  const auto state = inspect(*database);
  if (!state) return tl::unexpected(state.error());
  // manifest.json comes after the first commit.
  std::error_code none;
  if (mode == OpenMode::resume && state->empty && fs::exists(path.parent_path() / "manifest.json", none))
    return refuse("{}: is empty, but manifest.json says that a campaign was here: bring the file back from a copy",
                  path.string());
  // Only now: what is not ours is not touched.
  if (auto set = configure_writer(*database, medium); !set) return tl::unexpected(set.error());
  if (state->empty) {  // new, or of a start that died as it made the file: there is nothing yet to go on with
    if (auto made = create_schema(*database); !made) return tl::unexpected(made.error());
    return database;
  }
  if (auto whole = check_whole(*database); !whole) return tl::unexpected(whole.error());
  if (mode == OpenMode::create) {
    // A start that died before its manifest was saved has left nothing worth keeping.
    const auto used = database->integer("SELECT (SELECT count(*) FROM manifest) + (SELECT count(*) FROM runs)");
    if (!used) return tl::unexpected(used.error());
    if (*used > 0)
      return refuse("{}: already holds a campaign: go on with it by --resume, or choose another --out",
                    path.parent_path().string());
  }
  if (auto upgraded = upgrade_schema(*database, state->version); !upgraded) return tl::unexpected(upgraded.error());
  return database;
}

// Which file it is, and when it was last written.
using Stamp = std::tuple<dev_t, ino_t, off_t, time_t, long>;
std::optional<Stamp> stamp_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Stamp{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

// Runs are in the log while a writer is there, and after one that was killed; then SQLite must keep its locks. It lies
// beside the file itself, not beside a link to it.
bool has_log(const fs::path& path) {
  std::error_code none;
  const auto size = fs::file_size(fs::canonical(path, none).string() + "-wal", none);
  return !none && size > 0;
}

// Without a log nothing is locked and nothing is left beside the file, and its directory need not be writable. With a
// rollback journal locks are all that tells whether somebody writes.
Result<Database> open_reader(const fs::path& path, bool locked) {
  auto database = Database::open(uri_of(path, locked ? "" : "?immutable=1"), path.string(), SQLITE_OPEN_READONLY);
  if (!database) return database;
  const auto state = inspect(*database);
  if (!state) return tl::unexpected(state.error());
  if (state->empty) return refuse("{}: holds no campaign", path.string());
  if (auto whole = check_whole(*database); !whole) return tl::unexpected(whole.error());
  if (state->version < kStoreSchema) {
    auto copy = Database::open(":memory:", path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!copy) return copy;
    if (auto copied = copy->copy_from(*database); !copied) return tl::unexpected(copied.error());
    if (auto upgraded = upgrade_schema(*copy, state->version); !upgraded) return tl::unexpected(upgraded.error());
    database = std::move(copy);
  }
  if (auto set = database->execute("PRAGMA query_only = 1"); !set) return tl::unexpected(set.error());
  return database;
}

// What was read without locks of a file that changed meanwhile may be of two times.
template <typename T>
Result<T> settled(const fs::path& path, const std::optional<Stamp>& stamp, Result<T> read) {
  if (!stamp || stamp_of(path) == stamp) return read;
  return fail("{}: a longhaul began to write to it while it was read: try again", path.string());
}

// `take` gets each row; its error ends the walk.
template <typename Take>
Result<void> walk(const Database& database, std::string_view sql, Take take) {
  auto select = database.prepare(sql);
  if (!select) return tl::unexpected(select.error());
  while (true) {
    const auto row = select->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    if (Result<void> taken = take(*select); !taken) return taken;
  }
}

class SqliteBackend : public Backend {
 public:
  SqliteBackend(fs::path file, std::optional<WriterLock> lock, std::optional<Stamp> stamp, Database database)
      : file_(std::move(file)), lock_(std::move(lock)), stamp_(stamp), database_(std::move(database)) {}

  const std::string& name() const override { return database_.name(); }

  Result<void> save_manifest(const std::string& document) override {
    auto insert = database_.prepare(
        "INSERT INTO manifest (one, document) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET document = "
        "excluded.document");
    if (!insert) return tl::unexpected(insert.error());
    if (auto done = insert->bind(1, document).step(); !done) return tl::unexpected(done.error());
    return {};
  }

  Result<std::string> manifest() const override {
    return settled(file_, stamp_, database_.text("SELECT document FROM manifest"));
  }

  Result<void> add_run(const StoredRun& run) override {
    auto transaction = Transaction::begin(database_);
    if (!transaction) return tl::unexpected(transaction.error());
    {
      auto present = database_.prepare("SELECT 1 FROM runs WHERE run_id = ?1");
      if (!present) return tl::unexpected(present.error());
      const auto row = present->bind(1, run.run_id).step();
      if (!row) return tl::unexpected(row.error());
      if (*row) return fail("{}: run {} is already there", database_.name(), run.run_id);
    }
    {
      auto insert = database_.prepare(
          "INSERT INTO runs (run_id, cell_id, repetition, attempt, status, started, finished, document) VALUES (?1, "
          "?2, ?3, ?4, ?5, ?6, ?7, ?8)");
      if (!insert) return tl::unexpected(insert.error());
      insert->bind(1, run.run_id)
          .bind(2, run.cell_id)
          .bind(3, std::int64_t{run.repetition})
          .bind(4, std::int64_t{run.attempt});
      insert->bind(5, run.status).bind(6, run.started).bind(7, run.finished);
      if (auto done = insert->bind(8, run.document).step(); !done) return tl::unexpected(done.error());
    }
    if (auto indexed = index_run(database_, run.run_id, run.metrics); !indexed) return indexed;
    return transaction->commit();
  }

  Result<std::size_t> count() const override {
    const auto runs = settled(file_, stamp_, database_.integer("SELECT count(*) FROM runs"));
    if (!runs) return tl::unexpected(runs.error());
    return static_cast<std::size_t>(*runs);
  }

  Result<void> each_document(std::size_t from, const TakeRun& take) const override {
    const auto sql = fmt::format("SELECT run_id, document FROM runs ORDER BY sequence LIMIT -1 OFFSET {}", from);
    return each_row(sql, [&](Statement& row) {
      StoredRun run;
      run.run_id = row.text(0);
      run.document = row.text(1);
      return take(run);
    });
  }

  Result<std::vector<StoredRun>> index() const override {
    std::vector<StoredRun> runs;
    std::map<std::string, std::size_t> place;
    auto walked = each_row(
        "SELECT run_id, cell_id, repetition, attempt, status, started, finished, "
        "json_extract(document, '$.virtual_clock.digest') FROM runs ORDER BY sequence",
        [&](Statement& row) -> Result<void> {
          place.emplace(row.text(0), runs.size());
          runs.push_back({.run_id = row.text(0),
                          .cell_id = row.text(1),
                          .repetition = static_cast<int>(row.integer(2)),
                          .attempt = static_cast<int>(row.integer(3)),
                          .status = row.text(4),
                          .started = row.integer(5),
                          .finished = row.integer(6),
                          .digest = row.text(7)});
          return {};
        });
    if (!walked) return tl::unexpected(walked.error());
    walked = each_row("SELECT run_id, metric, value, samples FROM metrics", [&](Statement& row) -> Result<void> {
      if (const auto run = place.find(row.text(0)); run != place.end())
        runs[run->second].metrics.push_back({row.text(1), row.real(2), row.integer(3)});
      return {};
    });
    if (!walked) return tl::unexpected(walked.error());
    return runs;
  }

  Result<void> add_facts(const std::string& digest, const std::string& document) override {
    auto insert =
        database_.prepare("INSERT INTO facts (digest, document) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING");
    if (!insert) return tl::unexpected(insert.error());
    if (auto done = insert->bind(1, digest).bind(2, document).step(); !done) return tl::unexpected(done.error());
    return {};
  }

  Result<std::map<std::string, std::string>> facts() const override {
    std::map<std::string, std::string> facts;
    auto walked = each_row("SELECT digest, document FROM facts", [&](Statement& row) -> Result<void> {
      facts.emplace(row.text(0), row.text(1));
      return {};
    });
    if (!walked) return tl::unexpected(walked.error());
    return facts;
  }

 private:
  template <typename Take>
  Result<void> each_row(std::string_view sql, Take take) const {
    return settled(file_, stamp_, walk(database_, sql, std::move(take)));
  }

  fs::path file_;
  std::optional<WriterLock> lock_;  // before the database: released after it is closed
  std::optional<Stamp> stamp_;      // of a file that was opened without locks
  Database database_;
};

}  // namespace

bool holds_sqlite(const fs::path& directory) {
  std::error_code none;
  return fs::exists(directory / kFile, none);
}

Result<std::unique_ptr<Backend>> open_sqlite(const fs::path& directory, OpenMode mode) {
  return open_sqlite(directory, mode, medium_of(directory));
}

Result<std::unique_ptr<Backend>> open_sqlite(const fs::path& directory, OpenMode mode, Medium medium) {
  const auto path = directory / kFile;
  if (mode != OpenMode::create && !holds_sqlite(directory))
    return refuse("{}: no such file: name a directory that `longhaul run --out` made", path.string());
  std::optional<WriterLock> lock;
  if (mode != OpenMode::read) {
    auto taken = WriterLock::take(directory);
    if (!taken) return tl::unexpected(taken.error());
    lock = std::move(*taken);
  }
  const bool locked = mode != OpenMode::read || has_log(path) || has_rollback_journal(path);
  const auto stamp = locked ? std::nullopt : stamp_of(path);
  auto database =
      mode == OpenMode::read ? settled(path, stamp, open_reader(path, locked)) : open_writer(path, mode, medium);
  if (!database) return tl::unexpected(database.error());
  return std::make_unique<SqliteBackend>(path, std::move(lock), stamp, std::move(*database));
}

}  // namespace longhaul::results
