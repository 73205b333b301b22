// A campaign in a PostgreSQL database, beside others of other writers.
#pragma once

#include <chrono>
#include <memory>

#include "results/store/address.hh"
#include "results/store/backend.hh"
#include "results/store/mode.hh"

namespace longhaul::results {

/// How long a writer waits for a server that went away (a restart takes a second or two). Less than an agent's lease
/// (10 s), so that a testbed outlives it.
inline constexpr std::chrono::milliseconds kPatience = std::chrono::seconds{8};

/// One writer a campaign: the server holds its lock (an advisory lock of the session), and drops it when it dies.
/// A statement that met a server that went away is asked again, and finds out what of it was done.
Result<std::unique_ptr<Backend>> open_postgres(const PostgresAddress& address, OpenMode mode,
                                               std::chrono::milliseconds patience = kPatience);

/// A campaign in a store, by its runs.
struct StoredCampaignRow {
  std::string name;
  std::int64_t cells = 0;  ///< that have a run
  std::int64_t runs = 0;
  std::int64_t ok = 0;
  std::int64_t refused = 0;
  std::int64_t failed = 0;
  std::string first_run;  ///< ISO 8601, UTC; empty: none yet
  std::string last_run;
  std::string version;  ///< of longhaul
};
/// In the order in which they were made.
Result<std::vector<StoredCampaignRow>> list_campaigns(const PostgresAddress& address);

/// As open_postgres(address, OpenMode::create) would refuse, without making anything.
Result<void> check_free(const PostgresAddress& address);

}  // namespace longhaul::results
