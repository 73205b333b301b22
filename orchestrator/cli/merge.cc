#include "orchestrator/cli/merge.hh"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "orchestrator/cli/directory.hh"
#include "results/analyses/compare/records.hh"
#include "results/store/store.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;

// The content of all parts together.
struct Whole {
  std::optional<Manifest> manifest;
  std::map<std::string, NodeFacts> facts;  // by digest
  std::vector<RunRecord> runs;
  std::map<std::string, std::size_t> known;  // run id -> of runs
};

// Checks that two parts belong to one campaign.
Result<void> check_alike(const Manifest& first, const Manifest& other) {
  if (!first.virtual_clock || !other.virtual_clock)
    return refuse("it was measured by the host's clock: only parts by a virtual clock are one campaign");
  if (first.campaign_text != other.campaign_text) return refuse("it is of another campaign");
  if (first.seed != other.seed) return refuse("its seed is {}, not {}", other.seed, first.seed);
  const auto& a = *first.virtual_clock;
  const auto& b = *other.virtual_clock;
  if (a.shift != b.shift || a.quantum != b.quantum)
    return refuse("its clock is another: shift {}, quantum {}", b.shift, b.quantum);
  if (a.qemu != b.qemu) return refuse("its QEMU is {}, not {}", b.qemu, a.qemu);
  if (a.image != b.image) return refuse("its lab is {}, not {}: other programs, or another kernel", b.image, a.image);
  return {};
}

void add_manifest(Manifest& manifest, const Manifest& its) {
  manifest.wall += its.wall;
  manifest.measuring += its.measuring;
  manifest.started = std::min(manifest.started, its.started);
  // Whole when every part is.
  manifest.finished = its.finished == 0 || manifest.finished == 0 ? 0 : std::max(manifest.finished, its.finished);
  if (const auto& check = its.virtual_clock->check) {
    auto& known = manifest.virtual_clock->check;
    auto& all = known ? *known : known.emplace();
    all.runs += check->runs;
    all.equal += check->equal;
    all.different.insert(all.different.end(), check->different.begin(), check->different.end());
  }
}

// A run that is there already must be the same.
Result<void> add_part(Whole& whole, const std::string& directory) {
  const auto part = results::Store::open(directory, results::OpenMode::read);
  if (!part) return tl::unexpected(part.error());
  const auto its = part->manifest();
  if (!its) return tl::unexpected(its.error());
  if (auto alike = check_alike(whole.manifest.value_or(*its), *its); !alike)
    return refuse("{}: {}", results::shown_address(directory), alike.error().message);
  if (whole.manifest)
    add_manifest(*whole.manifest, *its);
  else
    whole.manifest = *its;
  auto facts = part->facts();
  if (!facts) return tl::unexpected(facts.error());
  whole.facts.merge(*facts);
  auto runs = part->runs();
  if (!runs) return tl::unexpected(runs.error());
  for (auto& run : *runs) {
    const auto [found, fresh] = whole.known.emplace(run.run_id, whole.runs.size());
    if (fresh) {
      whole.runs.push_back(std::move(run));
      continue;
    }
    // Records without a measurement have only times of the host's.
    const auto& there = whole.runs[found->second];
    if (run.nodes.empty() && there.nodes.empty()) continue;
    if (const auto where = results::first_difference(there, run); !where.empty())
      return fail("{}: run {} is there twice and not the same: {}; longhaul verify tells which part is wrong",
                  results::shown_address(directory), run.run_id, where);
  }
  return {};
}

// A cell of which there is nothing was a share's that is missing: --resume can still make it.
void check_complete(Whole& whole) {
  std::set<std::string> cells;
  for (const auto& run : whole.runs) cells.insert(run.cell_id);
  for (const auto& cell : whole.manifest->cells)
    if (!cells.contains(cell.cell_id)) whole.manifest->finished = 0;
}

Result<void> write(const Whole& whole, const Destination& destination) {
  auto store = open_store(destination, results::OpenMode::create);
  if (!store) return tl::unexpected(store.error());
  for (const auto& [digest, one] : whole.facts)
    if (auto kept = store->add_facts(digest, one); !kept) return kept;
  for (const auto& run : whole.runs)
    if (auto kept = store->add_run(run); !kept) return kept;
  return store->save_manifest(*whole.manifest);
}

}  // namespace

Result<void> merge(const std::vector<std::string>& parts, const Destination& destination) {
  if (auto fresh = check_new(destination); !fresh) return fresh;
  Whole whole;
  std::set<fs::path> taken;
  for (const auto& directory : parts) {
    std::error_code missing;
    const auto path = results::is_postgres(directory) ? fs::path{directory} : fs::canonical(directory, missing);
    if (!missing && !taken.insert(path).second) return refuse("{} is named twice", results::shown_address(directory));
    if (auto added = add_part(whole, directory); !added) return added;
  }
  if (!whole.manifest) return refuse("there is nothing to join: name the run directories of longhaul shard");
  check_complete(whole);
  std::error_code ignored;
  const fs::path out = destination.out;
  const bool ours = !fs::exists(out, ignored);
  auto written = write(whole, destination);
  if (!written) {
    for (const auto* file : {"results.db", "results.db-wal", "results.db-shm", "manifest.json", "store"})
      fs::remove(out / file, ignored);
    if (ours) fs::remove(out, ignored);
  }
  return written;
}

}  // namespace longhaul::orchestrator
