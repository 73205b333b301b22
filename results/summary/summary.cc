#include "results/summary/summary.hh"

#include <algorithm>
#include <set>

#include "results/metrics/metrics.hh"
#include "results/store/store.hh"
#include "results/summary/processor.hh"
#include "results/summary/testbeds.hh"

namespace longhaul::results {
namespace {

std::string word(const Parameters& parameters, const std::string& name) {
  const auto it = parameters.find(name);
  const auto* found = it == parameters.end() ? nullptr : std::get_if<std::string>(&it->second);
  return found == nullptr ? std::string{} : *found;
}

std::optional<std::int64_t> number(const Parameters& parameters, const std::string& name) {
  const auto it = parameters.find(name);
  const auto* found = it == parameters.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  return found == nullptr ? std::nullopt : std::optional{*found};
}

std::optional<double> median_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return median(values);
}

// Identifies the cell from its parameters alone.
CellSummary identify(const std::string& id, const std::string& workload, const Parameters& parameters) {
  CellSummary cell{.cell_id = id, .workload = workload, .parameters = parameters};
  cell.transport = word(parameters, "transport");
  cell.provider = word(parameters, "provider");
  if (const auto* spec = find_transport(cell.transport); cell.provider.empty() && spec != nullptr)
    cell.provider = spec->provider;
  cell.rival = word(parameters, "rival");
  cell.forward.asked = number(parameters, "delay").value_or(0);
  cell.back.asked = number(parameters, "delay_back").value_or(cell.forward.asked);
  cell.virtual_clock = word(parameters, kClockAxis) == kVirtualClock;
  cell.soft = is_soft_provider(cell.provider) || is_soft_provider(cell.rival);
  return cell;
}

class PathFigures {
 public:
  void add(const PathDirection& direction) {
    dropped_ += direction.dropped;
    if (direction.samples == 0) return;
    achieved_.push_back(static_cast<double>(direction.achieved));
    programmed_.push_back(static_cast<double>(direction.programmed));
    p99_.push_back(static_cast<double>(direction.p99));
  }
  void store(AchievedDelay& delay) const {
    delay.achieved = median_of(achieved_);
    delay.values = achieved_;
    delay.programmed = median_of(programmed_);
    delay.p99 = median_of(p99_);
    delay.dropped = dropped_;
  }

 private:
  std::vector<double> achieved_, programmed_, p99_;
  std::uint64_t dropped_ = 0;
};

void summarise_path(const std::vector<const RunRecord*>& runs, CellSummary& cell) {
  PathFigures forward, back;
  std::vector<double> rtt;
  for (const auto* run : runs) {
    if (!run->path) continue;
    forward.add(run->path->forward);
    back.add(run->path->back);
    if (run->path->rtt_samples > 0) rtt.push_back(static_cast<double>(run->path->rtt));
  }
  forward.store(cell.forward);
  back.store(cell.back);
  cell.rtt = median_of(rtt);
}

const TransportFacts* client_transport(const RunRecord& run) {
  const TransportFacts* found = nullptr;
  for (const auto& [node, record] : run.nodes) {
    if (!record.transport) continue;
    if (record.role == Role::client) return &*record.transport;
    if (found == nullptr) found = &*record.transport;
  }
  return found;
}

Result<void> summarise_metrics(const std::vector<const RunRecord*>& runs, const Vocabulary& vocabulary,
                               CellSummary& cell) {
  struct Parts {
    MetricSummary summary;
    bool whole = true;
  };
  std::map<std::string, Parts> found;
  for (const auto* run : runs) {
    const auto metrics = run_metrics(*run);
    if (!metrics) return tl::unexpected(metrics.error());
    for (const auto& [name, metric] : *metrics) {
      auto& [summary, whole] = found[name];
      summary.values.push_back(metric.value);
      summary.samples += metric.samples;
      if (metric.distribution) {
        summary.pooled.merge(*metric.distribution);
      } else {
        whole = false;
      }
    }
  }
  const auto take = [&](const std::string& name, Parts& parts) {
    auto& [summary, whole] = parts;
    summary.name = name;
    if (const auto* spec = vocabulary.metric(cell.workload, name)) {
      summary.unit = spec->unit;
      summary.better = spec->better;
    }
    summary.median = median(summary.values);
    summary.interval = median_interval(summary.values);
    if (!whole) summary.pooled = Histogram{};
    if (summary.pooled.count() >= kSamplesForP99) summary.p99 = summary.pooled.quantile(0.99);
    cell.metrics.push_back(std::move(summary));
  };
  // The workload's order first, so that the headline stands in front.
  if (const auto* spec = vocabulary.workload(cell.workload)) {
    for (const auto& metric : spec->metrics) {
      if (auto node = found.extract(metric.name)) take(metric.name, node.mapped());
    }
  }
  for (auto& [name, parts] : found) take(name, parts);
  return {};
}

// See CellSummary::status.
void judge(const std::vector<const RunRecord*>& all, int wanted, CellSummary& cell) {
  const auto reason = [&](Status status) {
    for (auto it = all.rbegin(); it != all.rend(); ++it)
      if ((*it)->status == status && !(*it)->message.empty()) return (*it)->message;
    return std::string{};
  };
  if (cell.usable >= wanted) {
    cell.status = cell.runs.contains(Status::limited) ? Status::limited : Status::ok;
    cell.message = reason(Status::limited);
    if (cell.message.empty() && !cell.limits.empty()) cell.message = cell.limits.back();
    return;
  }
  int most = 0;
  for (const auto status : {Status::failed, Status::refused, Status::unsupported}) {
    const auto it = cell.runs.find(status);
    if (it == cell.runs.end() || it->second <= most) continue;
    most = it->second;
    cell.status = status;
    cell.message = reason(status);
  }
  if (most == 0) cell.message = fmt::format("not measured: {} of {} runs", cell.usable, wanted);
}

Result<CellSummary> summarise_cell(CellSummary cell, const std::vector<const RunRecord*>& all, const Manifest& manifest,
                                   const std::map<std::string, std::size_t>& owners,
                                   const std::map<std::string, NodeFacts>& facts, const Vocabulary& vocabulary) {
  std::vector<const RunRecord*> good;
  std::set<std::string> limits;
  cell.emulated = manifest.testbed.emulated;
  cell.topology = manifest.testbed.topology;
  for (const auto* run : all) {
    ++cell.runs[run->status];
    if (!run->topology.empty()) cell.topology = run->topology;
    for (const auto& [node, digest] : run->facts) {
      const auto known = facts.find(digest);
      cell.emulated = cell.emulated || (known != facts.end() && known->second.emulated);
    }
    if (!counts(run->status)) continue;
    good.push_back(run);
    for (const auto& [node, record] : run->nodes) limits.insert(record.limits.begin(), record.limits.end());
    if (const auto* transport = client_transport(*run)) cell.device = transport->device;
  }
  std::stable_sort(good.begin(), good.end(),
                   [](const auto* a, const auto* b) { return a->repetition < b->repetition; });
  cell.usable = static_cast<int>(good.size());
  for (const auto* run : good)
    if (run->virtual_clock) cell.seeds.push_back(run->virtual_clock->seed);
  for (const auto* run : good)
    if (const auto owner = run->facts.empty() ? owners.end() : owners.find(run->facts.begin()->first);
        owner != owners.end())
      cell.testbeds.push_back(owner->second);
  cell.limits.assign(limits.begin(), limits.end());
  // A cell without a usable run shows the WAN that its other runs found: it may be why.
  summarise_path(good.empty() ? all : good, cell);
  judge(all, std::max(1, manifest.repetitions_min), cell);
  if (auto done = summarise_metrics(good, vocabulary, cell); !done) return tl::unexpected(done.error());
  cell.cpu = summarise_cpu(good, vocabulary.workload(cell.workload));
  return cell;
}

}  // namespace

const MetricSummary* CellSummary::metric(std::string_view name) const {
  for (const auto* list : {&metrics, &cpu})
    for (const auto& one : *list)
      if (one.name == name) return &one;
  return nullptr;
}

bool same_but(const CellSummary& a, const CellSummary& b, std::initializer_list<const char*> axes) {
  auto first = a.parameters;
  auto second = b.parameters;
  for (const auto* axis : axes) {
    first.erase(axis);
    second.erase(axis);
  }
  return a.workload == b.workload && first == second;
}

bool is_soft_provider(std::string_view provider) {
  return provider == "rxe" || provider == "siw";
}

Result<Summary> summarise(const Manifest& manifest, const std::vector<RunRecord>& runs,
                          const std::map<std::string, NodeFacts>& facts, const Vocabulary& vocabulary) {
  Summary summary{
      .manifest = manifest, .facts = facts, .node_facts = {}, .cells = {}, .emulated = manifest.testbed.emulated};
  std::vector<CellSummary> cells;
  std::map<std::string, std::size_t> place;
  const auto enter = [&](const std::string& id, const std::string& workload, const Parameters& parameters) {
    if (place.emplace(id, cells.size()).second) cells.push_back(identify(id, workload, parameters));
  };
  for (const auto& planned : manifest.cells) enter(planned.cell_id, planned.workload, planned.parameters);
  for (const auto& run : runs) enter(run.cell_id, run.workload, run.parameters);

  std::vector<std::vector<const RunRecord*>> by_cell(cells.size());
  for (const auto& run : runs) {
    by_cell[place.at(run.cell_id)].push_back(&run);
    for (const auto& [node, digest] : run.facts) ++summary.node_facts[node][digest];
  }
  const auto owners = owners_of_nodes(manifest);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    auto cell = summarise_cell(std::move(cells[i]), by_cell[i], manifest, owners, facts, vocabulary);
    if (!cell) return tl::unexpected(cell.error());
    summary.emulated = summary.emulated || cell->emulated;
    summary.cells.push_back(std::move(*cell));
  }
  return summary;
}

Result<StoredCampaign> load(const std::string& directory) {
  const auto store = Store::open(directory, OpenMode::read);
  if (!store) return tl::unexpected(store.error());
  auto manifest = store->manifest();
  if (!manifest) return tl::unexpected(manifest.error());
  auto runs = store->runs();
  if (!runs) return tl::unexpected(runs.error());
  auto facts = store->facts();
  if (!facts) return tl::unexpected(facts.error());
  return StoredCampaign{std::move(*manifest), std::move(*runs), std::move(*facts)};
}

Result<Summary> summarise_directory(const std::string& directory, const Vocabulary& vocabulary) {
  const auto stored = load(directory);
  if (!stored) return tl::unexpected(stored.error());
  return summarise(stored->manifest, stored->runs, stored->facts, vocabulary);
}

}  // namespace longhaul::results
