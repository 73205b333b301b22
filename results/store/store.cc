#include "results/store/store.hh"

#include <set>

#include "common/replace_file.hh"
#include "common/sha256.hh"
#include "results/store/backend.hh"
#include "results/store/postgres/backend.hh"
#include "results/store/row.hh"
#include "results/store/sqlite/backend.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;

Result<void> make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return refuse("{}: cannot be made: {}: choose another --out", directory.string(), error.message());
  return {};
}

Result<std::unique_ptr<Backend>> open_backend(const fs::path& address, OpenMode mode) {
  if (is_postgres(address.native())) {
    const auto parsed = parse_postgres(address.native());
    if (!parsed) return tl::unexpected(parsed.error());
    return open_postgres(*parsed, mode);
  }
  const auto pointer = read_pointer(address);
  if (!pointer) return tl::unexpected(pointer.error());
  if (*pointer) {
    auto opened = open_postgres(**pointer, mode);
    if (!opened)
      return tl::unexpected(
          Error{fmt::format("{}: {}", address.string(), opened.error().message), opened.error().exit_code});
    return opened;
  }
  if (mode == OpenMode::create)
    if (auto made = make_directory(address); !made) return tl::unexpected(made.error());
  return open_sqlite(address, mode);
}

}  // namespace

Store::Store(fs::path directory, std::unique_ptr<Backend> backend)
    : directory_(std::move(directory)), backend_(std::move(backend)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const fs::path& Store::directory() const {
  return directory_;
}

std::string facts_digest(const NodeFacts& facts) {
  return short_digest(to_json(facts));
}

bool holds_store(const fs::path& address) {
  if (is_postgres(address.native())) return open_backend(address, OpenMode::read).has_value();
  const auto pointer = read_pointer(address);
  return holds_sqlite(address) || !pointer || *pointer;
}

Result<Store> Store::open(const fs::path& address, OpenMode mode) {
  auto backend = open_backend(address, mode);
  if (!backend) return tl::unexpected(backend.error());
  return Store{is_postgres(address.native()) ? fs::path{} : address, std::move(*backend)};
}

Result<Store> Store::open_at(const fs::path& directory, const PostgresAddress& address, OpenMode mode) {
  const auto pointer = read_pointer(directory);
  if (!pointer) return tl::unexpected(pointer.error());
  if (*pointer && (*pointer)->text() != address.text())
    return refuse("{}: its results are in {}, not in {}: leave --store out, or take another --out", directory.string(),
                  (*pointer)->text(), address.text());
  if (!*pointer && holds_sqlite(directory))
    return refuse("{}: its results are in results.db: leave --store out, or take another --out", directory.string());
  auto backend = open_postgres(address, mode);
  if (!backend) return tl::unexpected(backend.error());
  if (auto made = make_directory(directory); !made) return tl::unexpected(made.error());
  if (auto led = write_pointer(directory, address); !led) return tl::unexpected(led.error());
  return Store{directory, std::move(*backend)};
}

Result<void> Store::keep_manifest(const std::string& document) {
  if (auto kept = backend_->save_manifest(document); !kept || directory_.empty()) return kept;
  return replace_file(directory_ / "manifest.json", document + "\n");
}

Result<void> Store::save_manifest(const Manifest& manifest) {
  return keep_manifest(to_json(manifest));
}

Result<Manifest> Store::manifest() const {
  const auto text = backend_->manifest();
  if (!text) return tl::unexpected(text.error());
  if (text->empty()) return refuse("{}: holds no campaign: it was interrupted before it began", backend_->name());
  auto manifest = manifest_from_json(*text);
  if (!manifest) return refuse("{}: its manifest cannot be read: {}", backend_->name(), manifest.error().message);
  return manifest;
}

Result<void> Store::add_run(const RunRecord& run) {
  const auto row = row_of(run);
  if (!row) return tl::unexpected(row.error());
  return backend_->add_run(*row);
}

Result<std::size_t> Store::count() const {
  return backend_->count();
}

Result<std::vector<RunRecord>> Store::runs(std::size_t from) const {
  std::vector<RunRecord> runs;
  auto read = backend_->each_document(from, [&](const StoredRun& row) -> Result<void> {
    auto run = run_record_from_json(row.document);
    if (!run) return refuse("{}: run {} cannot be read: {}", backend_->name(), row.run_id, run.error().message);
    runs.push_back(std::move(*run));
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  return runs;
}

Result<std::vector<RunSummary>> Store::index() const {
  const auto rows = backend_->index();
  if (!rows) return tl::unexpected(rows.error());
  std::vector<RunSummary> index;
  for (const auto& row : *rows) {
    RunSummary run{.run_id = row.run_id,
                   .cell_id = row.cell_id,
                   .repetition = row.repetition,
                   .attempt = row.attempt,
                   .started = row.started,
                   .finished = row.finished,
                   .digest = row.digest,
                   .metrics = {}};
    if (!boost::describe::enum_from_string(row.status.c_str(), run.status))
      return refuse("{}: run {} has the unknown status '{}'", backend_->name(), row.run_id, row.status);
    for (const auto& metric : row.metrics) run.metrics.emplace(metric.name, metric.value);
    index.push_back(std::move(run));
  }
  return index;
}

Result<void> Store::add_facts(const std::string& digest, const NodeFacts& facts) {
  return backend_->add_facts(digest, to_json(facts));
}

Result<std::map<std::string, NodeFacts>> Store::facts() const {
  const auto documents = backend_->facts();
  if (!documents) return tl::unexpected(documents.error());
  std::map<std::string, NodeFacts> facts;
  for (const auto& [digest, document] : *documents) {
    auto one = node_facts_from_json(document);
    if (!one) return refuse("{}: facts {} cannot be read: {}", backend_->name(), digest, one.error().message);
    facts.emplace(digest, std::move(*one));
  }
  return facts;
}

Result<std::size_t> Store::copy_to(Store& to) const {
  const auto manifest = backend_->manifest();
  if (!manifest) return tl::unexpected(manifest.error());
  const auto facts = backend_->facts();
  if (!facts) return tl::unexpected(facts.error());
  for (const auto& [digest, document] : *facts)
    if (auto kept = to.backend_->add_facts(digest, document); !kept) return tl::unexpected(kept.error());
  const auto there = to.backend_->index();
  if (!there) return tl::unexpected(there.error());
  std::set<std::string> known;
  for (const auto& run : *there) known.insert(run.run_id);
  const auto index = backend_->index();
  if (!index) return tl::unexpected(index.error());
  std::map<std::string, std::vector<StoredMetric>> here;
  for (const auto& run : *index) here.emplace(run.run_id, run.metrics);
  std::size_t added = 0;
  auto read = backend_->each_document(0, [&](const StoredRun& stored) -> Result<void> {
    if (known.contains(stored.run_id)) return {};
    const auto run = run_record_from_json(stored.document);
    if (!run) return refuse("{}: run {} cannot be read: {}", backend_->name(), stored.run_id, run.error().message);
    auto row = row_of(*run);
    if (!row) return tl::unexpected(row.error());
    // Not as both would be written today: as they are.
    row->document = stored.document;
    if (const auto indexed = here.find(stored.run_id); indexed != here.end()) row->metrics = indexed->second;
    ++added;
    return to.backend_->add_run(*row);
  });
  if (!read) return tl::unexpected(read.error());
  if (manifest->empty()) return added;
  if (auto kept = to.keep_manifest(*manifest); !kept) return tl::unexpected(kept.error());
  return added;
}

}  // namespace longhaul::results
