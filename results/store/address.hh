// Where a campaign's results are: the results.db of a directory, or a campaign in a PostgreSQL database.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.hh"

namespace longhaul::results {

/// postgresql://[USER[:PASSWORD]@][HOST][:PORT][/DATABASE][?OPTION=VALUE...]#CAMPAIGN: libpq's own form (PostgreSQL
/// manual, 34.1.1.2), and behind '#' which of the database's campaigns.
struct PostgresAddress {
  std::string url;       ///< for libpq; it may hold a password
  std::string campaign;  ///< empty: the database as a whole
  /// Without passwords: for messages and files.
  std::string text() const;
};

/// True for what begins as a PostgreSQL URL does.
bool is_postgres(std::string_view address);

/// Refuses what is no such URL, and campaigns' names with other characters than letters, digits and "._+-/". Pure.
Result<PostgresAddress> parse_postgres(std::string_view address);

/// An address as it is shown: a directory's path, or a PostgreSQL address without passwords. Pure.
std::string shown_address(const std::filesystem::path& address);

/// What a directory of somebody else's may say of a connection: where to, and how its server proves itself (host, port,
/// user, dbname, sslmode, sslrootcert). Not files to read, nor settings of a session. Pure.
Result<void> check_followed(const PostgresAddress& address);

/// DIR/store: says that the results of this run directory are in PostgreSQL. Nothing: there is no such file. Whoever
/// made the directory is not trusted (check_followed).
Result<std::optional<PostgresAddress>> read_pointer(const std::filesystem::path& directory);
/// Without its password, which libpq takes from ~/.pgpass or PGPASSWORD.
Result<void> write_pointer(const std::filesystem::path& directory, const PostgresAddress& address);

}  // namespace longhaul::results
