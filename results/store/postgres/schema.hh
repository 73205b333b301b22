// The tables and views of a PostgreSQL store, the rights on them, and their upgrades.
#pragma once

#include <string>
#include <vector>

#include "results/store/postgres/connection.hh"

namespace longhaul::results {

/// In longhaul.store. 1: the first.
inline constexpr std::int64_t kPostgresSchema = 1;

/// Who may do what: names of roles that exist.
struct Rights {
  std::vector<std::string> writers;  ///< add campaigns and runs; change and remove nothing; read
  std::vector<std::string> readers;
};

/// Makes the schema "longhaul" where it is missing, upgrades an older one and gives the rights, in one transaction.
/// Returns if it was made. Refuses a database whose encoding is not UTF-8, and a newer schema.
Result<bool> init_store(Connection& connection, const Rights& rights);

/// Refuses a database without a store, and a store of another schema, with a remedy.
Result<void> check_store(Connection& connection);

}  // namespace longhaul::results
