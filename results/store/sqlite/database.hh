// Owners of SQLite's handles, and its errors as sentences that name the file and a remedy.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/result.hh"

namespace longhaul::results {

struct CloseDatabase {
  void operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* handle) const noexcept { sqlite3_finalize(handle); }
};

/// An SQL statement that is bound and stepped. Columns and parameters count from 0 and 1 as in SQLite. Must go before
/// its Database.
class Statement {
 public:
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, std::int64_t number);
  Statement& bind(int index, double number);
  /// True: a row is there. False: done.
  Result<bool> step();
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  friend class Database;
  Statement(sqlite3* database, std::string file, sqlite3_stmt* statement)
      : database_(database), file_(std::move(file)), statement_(statement) {}
  sqlite3* database_;
  std::string file_;
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement_;
};

class Database {
 public:
  /// `flags` of sqlite3_open_v2. `name` is what errors call it; `uri` may differ from it (immutable=1, :memory:).
  /// Whoever made the file is not trusted (sqlite.org/security.html): nothing in its schema runs a function that has
  /// effects, its triggers and views do not work, a text of more than kLongestText bytes is refused.
  static Result<Database> open(const std::string& uri, const std::string& name, int flags);

  Result<void> execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql) const;
  /// The first column of the first row; 0 without a row.
  Result<std::int64_t> integer(const std::string& sql) const;
  Result<std::string> text(const std::string& sql) const;
  /// Replaces this database's content by a copy of `from`'s.
  Result<void> copy_from(const Database& from);
  const std::string& name() const { return name_; }

 private:
  Database(std::string name, sqlite3* handle) : name_(std::move(name)), handle_(handle) {}
  std::string name_;
  std::unique_ptr<sqlite3, CloseDatabase> handle_;
};

/// Bytes of one text in a database: the document of a run holds a record of each node, and each came in a frame of 16
/// MiB at most.
inline constexpr int kLongestText = 256 << 20;

/// BEGIN IMMEDIATE now; ROLLBACK when it goes without commit().
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

/// The sentence for an extended result code. `attempted`: "reading", "writing" ...
tl::unexpected<Error> database_error(const std::string& file, int code, const std::string& detail);

}  // namespace longhaul::results
