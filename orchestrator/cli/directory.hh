// The run directory: opened for a new campaign or for going on with one, and what must be equal to go on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/manifest.hh"
#include "orchestrator/campaign/cells.hh"
#include "orchestrator/events/event.hh"
#include "orchestrator/run/journal.hh"
#include "results/store/store.hh"
#include "results/summary/summary.hh"

namespace longhaul::orchestrator {

/// Why a campaign cannot be gone on with as it is now asked for: another text, seed or testbed (names, roles,
/// attachments; where its agents listen may change). Of several testbeds those that are left may go on. `testbeds`
/// empty: not known yet. Pure.
Result<void> check_resume(const Manifest& earlier, const std::string& campaign_text, std::optional<std::uint64_t> seed,
                          const std::vector<Testbed>& testbeds);

/// True if it is one of them, wherever its agents listen today. Pure.
bool is_of(const Testbed& testbed, const std::vector<Testbed>& some);

struct RunDirectory {
  results::Store store;
  std::optional<Manifest> manifest;  ///< of the earlier session
  std::vector<EarlierRun> runs;      ///< of the earlier session
};

/// Where a campaign's results go.
struct Destination {
  std::string out;    ///< the run directory
  std::string store;  ///< postgresql://...; empty: results.db in it
};

/// The campaign in PostgreSQL: one without a name is called as the run directory is. Pure.
Result<results::PostgresAddress> address_of(const Destination& destination);

/// To create: refused when there is a campaign already. The directory is made, and in it what leads to the store.
Result<results::Store> open_store(const Destination& destination, results::OpenMode mode);

/// New: refused when it holds a campaign. To resume: refused when it does not, or when the text or the seed is another.
Result<RunDirectory> open_directory(const Destination& destination, bool resume, const Campaign& campaign,
                                    std::optional<std::uint64_t> seed);

/// The builds of longhaul that measured, in their order: those of a manifest's `version`, and this one where the last
/// of them was another ("0.1.0 (commit 1a2b3c4d), then 0.1.0 (commit 5e6f7a8b)"). Pure.
std::string builds_of(const std::string& earlier, const std::string& now);

/// Says so where a campaign is gone on with by another build than the one that began it.
void warn_of_builds(const RunDirectory& directory, const std::string& now, Sink& sink);

/// Refuses as open_store(destination, create) would, without making anything.
Result<void> check_new(const Destination& destination);

/// All cells of the campaign; those of which a run was made, since a share makes no others; those for which --resume
/// has nothing left to do.
enum class Counted { all, tried, done };

/// The numbers of the directory's cells by status, and if all are ok, limited or unsupported.
std::vector<std::pair<Status, std::int64_t>> count_cells(const results::Summary& summary,
                                                         Counted counted = Counted::all);

/// 0, or ExitCode::incomplete where a cell was refused or failed.
int exit_code_of(const std::vector<std::pair<Status, std::int64_t>>& cells);

}  // namespace longhaul::orchestrator
