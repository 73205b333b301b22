#include "orchestrator/cli/merge.hh"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "results/analyses/compare/records.hh"
#include "results/store/store.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;

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
Result<void> check_same(const std::string& name, const RunRecord& there, const RunRecord& run) {
  // Records without a measurement have only times of the host's.
  if (run.nodes.empty() && there.nodes.empty()) return {};
  if (const auto where = results::first_difference(there, run); !where.empty())
    return fail("{}: run {} is there twice and not the same: {}; longhaul verify tells which part is wrong", name,
                run.run_id, where);
  return {};
}

// The content of all parts together.
struct Whole {
  Manifest manifest;
  std::map<std::string, NodeFacts> facts;  // by digest
  std::vector<RunRecord> runs;
};

Result<Whole> read_parts(const std::vector<std::string>& parts) {
  Whole whole;
  Joining joining;
  std::map<std::string, std::size_t> places;  // run id -> of runs
  std::set<fs::path> taken;
  for (const auto& directory : parts) {
    std::error_code missing;
    const auto path = results::is_postgres(directory) ? fs::path{directory} : fs::canonical(directory, missing);
    if (!missing && !taken.insert(path).second) return refuse("{} is named twice", results::shown_address(directory));
    const auto part = results::Store::open(directory, results::OpenMode::read);
    if (!part) return tl::unexpected(part.error());
    auto portion = read_portion(*part);
    if (!portion) return tl::unexpected(portion.error());
    whole.facts.merge(portion->facts);
    auto fresh = joining.add(results::shown_address(directory), std::move(*portion),
                             [&](const std::string& id) -> Result<RunRecord> { return whole.runs[places.at(id)]; });
    if (!fresh) return tl::unexpected(fresh.error());
    for (auto& run : *fresh) {
      places.emplace(run.run_id, whole.runs.size());
      whole.runs.push_back(std::move(run));
    }
  }
  whole.manifest = joining.manifest();
  return whole;
}

Result<void> write(const Whole& whole, const Destination& destination) {
  auto store = open_store(destination, results::OpenMode::create);
  if (!store) return tl::unexpected(store.error());
  for (const auto& [digest, one] : whole.facts)
    if (auto kept = store->add_facts(digest, one); !kept) return kept;
  for (const auto& run : whole.runs)
    if (auto kept = store->add_run(run); !kept) return kept;
  return store->save_manifest(whole.manifest);
}

}  // namespace

Result<Portion> read_portion(const results::Store& part, std::size_t from) {
  auto manifest = part.manifest();  // before the runs
  if (!manifest) return tl::unexpected(manifest.error());
  auto facts = part.facts();
  if (!facts) return tl::unexpected(facts.error());
  auto runs = part.runs(from);
  if (!runs) return tl::unexpected(runs.error());
  return Portion{.manifest = std::move(*manifest), .facts = std::move(*facts), .runs = std::move(*runs)};
}

void Joining::knows(const std::string& run_id, const std::string& cell_id) {
  known_.insert(run_id);
  tried_.insert(cell_id);
}

Result<std::vector<RunRecord>> Joining::add(const std::string& name, Portion portion, const Known& known) {
  if (!parts_.empty())
    if (auto alike = check_alike(parts_.front().manifest, portion.manifest); !alike)
      return refuse("{}: {}", name, alike.error().message);
  std::vector<RunRecord> fresh;
  for (auto& run : portion.runs) {
    if (known_.contains(run.run_id)) {
      const auto there = known(run.run_id);
      if (!there) return tl::unexpected(there.error());
      if (auto same = check_same(name, *there, run); !same) return tl::unexpected(same.error());
      continue;
    }
    knows(run.run_id, run.cell_id);
    fresh.push_back(std::move(run));
  }
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& one) { return one.name == name; });
  if (part == parts_.end())
    parts_.push_back({.name = name, .manifest = std::move(portion.manifest)});
  else
    part->manifest = std::move(portion.manifest);
  return fresh;
}

Manifest Joining::manifest() const {
  if (parts_.empty()) return {};
  auto whole = parts_.front().manifest;
  for (auto its = std::next(parts_.begin()); its != parts_.end(); ++its) add_manifest(whole, its->manifest);
  // A cell of which there is nothing was a share's that is missing: --resume can still make it.
  for (const auto& cell : whole.cells)
    if (!tried_.contains(cell.cell_id)) whole.finished = 0;
  return whole;
}

Result<void> merge(const std::vector<std::string>& parts, const Destination& destination) {
  if (auto fresh = check_new(destination); !fresh) return fresh;
  if (parts.empty()) return refuse("there is nothing to join: name the run directories of longhaul shard");
  const auto whole = read_parts(parts);
  if (!whole) return tl::unexpected(whole.error());
  std::error_code ignored;
  const fs::path out = destination.out;
  const bool ours = !fs::exists(out, ignored);
  auto written = write(*whole, destination);
  if (!written) {
    for (const auto* file : {"results.db", "results.db-wal", "results.db-shm", "manifest.json", "store"})
      fs::remove(out / file, ignored);
    if (ours) fs::remove(out, ignored);
  }
  return written;
}

}  // namespace longhaul::orchestrator
