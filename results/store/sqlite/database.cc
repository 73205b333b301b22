#include "results/store/sqlite/database.hh"

#include "common/log.hh"

namespace longhaul::results {
namespace {

constexpr int kBusyMilliseconds = 5000;

// Writers too: we make no triggers and no views, so one that is there is somebody else's.
bool harden(sqlite3* handle) {
  constexpr std::pair<int, int> kSettings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                               {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                               {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                               {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
  for (const auto& [setting, value] : kSettings)
    if (sqlite3_db_config(handle, setting, value, nullptr) != SQLITE_OK) return false;
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestText);
  return sqlite3_exec(handle, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", nullptr, nullptr, nullptr) ==
         SQLITE_OK;
}

}  // namespace

tl::unexpected<Error> database_error(const std::string& file, int code, const std::string& detail) {
  if (code == SQLITE_CANTOPEN_SYMLINK)
    return refuse("{}: is a symbolic link, which is not followed: remove it, and find out who put it there", file);
  if (code == SQLITE_READONLY_ROLLBACK)
    return refuse(
        "{}: its writer was killed in the middle of a commit ({}), which is undone when it is opened for writing: go "
        "on "
        "with --resume",
        file, detail);
  switch (code & 0xff) {
    case SQLITE_TOOBIG:
      return refuse("{}: holds a text of more than {} MiB ({}), which longhaul never wrote: use a copy of it", file,
                    kLongestText >> 20, detail);
    case SQLITE_FULL:
      return fail(
          "{}: no space left on the file system ({}): free some and go on with --resume; what was committed before is "
          "kept",
          file, detail);
    case SQLITE_CORRUPT:
      return refuse(
          "{}: the database is damaged ({}): use a copy of it, or save what is readable with "
          "`sqlite3 results.db .recover | sqlite3 recovered.db`",
          file, detail);
    case SQLITE_NOTADB:
      return refuse("{}: not a database of longhaul ({}): name a directory that `longhaul run --out` made", file,
                    detail);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail("{}: another process keeps it locked ({}): wait for it or end it, then try again", file, detail);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return refuse("{}: cannot be written ({}): check the owner and the permissions of the file and its directory",
                    file, detail);
    case SQLITE_CANTOPEN:
      return refuse("{}: cannot be opened ({}): check that it exists and that you may read it", file, detail);
    case SQLITE_IOERR:
      return fail("{}: reading or writing failed ({}): check the disk and its free space, then go on with --resume",
                  file, detail);
    default:
      return fail("{}: database error {} ({})", file, code, detail);
  }
}

Statement& Statement::bind(int index, std::string_view text) {
  // The length is bounded by the frame that carried the document (16 MiB), so it fits.
  sqlite3_bind_text(statement_.get(), index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind(int index, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), index, number);
  return *this;
}

Statement& Statement::bind(int index, double number) {
  sqlite3_bind_double(statement_.get(), index, number);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_error(file_, sqlite3_extended_errcode(database_), sqlite3_errmsg(database_));
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
std::string Statement::text(int column) const {
  const auto* data = sqlite3_column_text(statement_.get(), column);
  const auto size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string{}
                         : std::string{reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)};
}

Result<Database> Database::open(const std::string& uri, const std::string& name, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, nullptr);
  Database database{name, handle};  // owns the handle on failure too: SQLite gives one nearly always
  if (code != SQLITE_OK) {
    std::string detail = handle == nullptr ? "out of memory" : sqlite3_errmsg(handle);
    if (handle != nullptr && sqlite3_system_errno(handle) != 0) detail = errno_text(sqlite3_system_errno(handle));
    return database_error(name, code, detail);
  }
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  if (!harden(handle)) return database_error(name, sqlite3_extended_errcode(handle), sqlite3_errmsg(handle));
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return database_error(name_, sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get()));
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK)
    return database_error(name_, sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get()));
  return Statement{handle_.get(), name_, statement};
}

Result<std::int64_t> Database::integer(const std::string& sql) const {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->integer(0) : 0;
}

Result<std::string> Database::text(const std::string& sql) const {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->text(0) : std::string{};
}

Result<void> Database::copy_from(const Database& from) {
  auto* backup = sqlite3_backup_init(handle_.get(), "main", from.handle_.get(), "main");
  if (backup == nullptr)
    return database_error(name_, sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get()));
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) return database_error(from.name_, code, sqlite3_errstr(code));
  return {};
}

Result<Transaction> Transaction::begin(Database& database) {
  // IMMEDIATE: a lock that another holds is noticed here, not at the commit.
  if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun) return tl::unexpected(begun.error());
  return Transaction{database};
}

Transaction::~Transaction() {
  if (database_ == nullptr) return;
  // SQLite has already rolled back by itself after some errors (disk full); then there is nothing to do.
  static_cast<void>(database_->execute("ROLLBACK"));
}

Result<void> Transaction::commit() {
  auto committed = database_->execute("COMMIT");
  if (committed) database_ = nullptr;
  return committed;
}

}  // namespace longhaul::results
