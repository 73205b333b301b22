// Owners of libpq's handles, and the server's errors as sentences that name the database and a remedy.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "results/store/address.hh"

namespace longhaul::results {

struct FinishConnection {
  void operator()(PGconn* handle) const noexcept { PQfinish(handle); }
};
struct ClearRows {
  void operator()(PGresult* handle) const noexcept { PQclear(handle); }
};

/// What a statement returned. Rows and columns count from 0.
class Rows {
 public:
  explicit Rows(PGresult* handle) : handle_(handle) {}
  int count() const { return PQntuples(handle_.get()); }
  std::string text(int row, int column) const;
  std::int64_t integer(int row, int column) const;
  double real(int row, int column) const;
  PGresult* get() const { return handle_.get(); }

 private:
  std::unique_ptr<PGresult, ClearRows> handle_;
};

/// Of $1, $2 ...: as text, the types are the columns'.
using Values = std::vector<std::string>;

class Connection {
 public:
  /// Where the address does not say otherwise: a server on another machine must prove its name by a certificate
  /// (sslmode=verify-full), 10 s to connect, 30 s for a server that says nothing any more. `read_only`: the server
  /// refuses whatever would write.
  static Result<Connection> open(const PostgresAddress& address, bool read_only);

  Result<Rows> run(const std::string& sql, const Values& values = {});
  /// The same where there are no rows to look at. Without values it may be several statements.
  Result<void> execute(const std::string& sql, const Values& values = {});
  /// Row by row, never all of them in memory; an error of `take` ends it.
  Result<void> each(const char* sql, const Values& values, const std::function<Result<void>(const Rows&)>& take);
  /// Nothing more can be asked: the server ended, or the network did.
  bool is_lost() const { return PQstatus(handle_.get()) != CONNECTION_OK; }
  /// SQLSTATE of the last statement that failed; empty where the server said none.
  const std::string& state() const { return state_; }
  const std::string& name() const { return name_; }

 private:
  Connection(std::string name, PGconn* handle) : name_(std::move(name)), handle_(handle) {}
  Result<Rows> taken(PGresult* result);
  tl::unexpected<Error> failed(const PGresult* result);
  std::string name_;
  std::string state_;
  std::unique_ptr<PGconn, FinishConnection> handle_;
};

/// The sentence for a SQLSTATE (PostgreSQL manual, appendix A). `name`: the address, without passwords. Pure.
tl::unexpected<Error> postgres_error(const std::string& name, std::string_view state, std::string_view detail);

/// {"a","b"}: a PostgreSQL array of texts, numbers too. Pure.
std::string array_of(const std::vector<std::string>& texts);

}  // namespace longhaul::results
