// A PostgreSQL server of a test's own: the real one of Debian's package, in a folder that goes with its owner.
#pragma once

#include <filesystem>
#include <string>

#include "common/child.hh"
#include "tests/results/temporary.hh"

namespace longhaul::testing_support {

class PostgresServer {
 public:
  /// Why there can be none here (the package `postgresql` is missing); empty: there can.
  static std::string missing();

  /// Answers when the constructor returns. Its owner's role is "owner". `durable`: as an
  /// operator would run it; else without fsync, since what a machine's crash does to PostgreSQL's files is PostgreSQL's
  /// to test. Throws std::runtime_error with the server's log.
  explicit PostgresServer(bool durable = false);
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  /// By its socket: no password, whatever role.
  std::string url(const std::string& database, const std::string& role = "owner") const;
  /// By TCP, with TLS; the server's certificate is for "localhost". A password is asked for.
  std::string tcp_url(const std::string& database, const std::string& role, const std::string& options) const;
  /// The CA that signed the server's certificate.
  std::filesystem::path ca() const { return folder_.path() / "ca.pem"; }

  /// Runs SQL as the owner; throws std::runtime_error.
  void sql(const std::string& database, const std::string& statements);
  /// An empty database of this name.
  void make_database(const std::string& name, const std::string& options = "");

  void stop();   ///< as an operator would: clients are cut off, what was committed is kept
  void start();  ///< again

 private:
  std::filesystem::path program(const std::string& name) const;
  void wait_until_it_answers();
  results::TemporaryDirectory folder_;
  bool durable_;
  std::uint16_t port_ = 0;
  Child server_;
};

}  // namespace longhaul::testing_support
