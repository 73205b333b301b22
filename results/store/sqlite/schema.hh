// The layout of results.db and its upgrades.
#pragma once

#include "results/store/backend.hh"
#include "results/store/sqlite/database.hh"

namespace longhaul::results {

/// In PRAGMA user_version. 1: documents alone. 2: the metrics index.
inline constexpr std::int64_t kStoreSchema = 2;
/// In PRAGMA application_id: "LHLR". Tells a campaign from any other SQLite file.
inline constexpr std::int64_t kApplicationId = 0x4c484c52;

/// Makes the tables in an empty database.
Result<void> create_schema(Database& database);

/// The state of an opened file.
struct StoreState {
  bool empty = false;        ///< no table at all
  std::int64_t version = 0;  ///< user_version
};
/// Refuses what is not longhaul's, and what a newer longhaul wrote.
Result<StoreState> inspect(const Database& database);

/// Upgrades step by step to kStoreSchema in one transaction; nothing to do when it is there already.
Result<void> upgrade_schema(Database& database, std::int64_t version);

/// The metrics of one run whose row in `runs` exists.
Result<void> index_run(Database& database, const std::string& run_id, const std::vector<StoredMetric>& metrics);
/// Empties the metrics index and fills it from the documents. Inside the caller's transaction.
Result<void> fill_index(Database& database);

}  // namespace longhaul::results
