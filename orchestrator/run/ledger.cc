#include "orchestrator/run/ledger.hh"

#include <time.h>

#include "common/error.hh"

namespace longhaul::orchestrator {
namespace {

constexpr std::int64_t kEnoughToExtrapolate = 8;  // runs

}  // namespace

std::int64_t wall_now() {
  // Read once, and then gone on by a clock that nobody sets (and that goes on while a laptop sleeps): a step of the
  // wall clock must not let a run end before it began.
  const auto since_boot = [] {
    timespec now{};
    check(::clock_gettime(CLOCK_BOOTTIME, &now), "reading the clock");
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  static const auto offset =
      std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count() -
      since_boot();
  return offset + since_boot();
}

Ledger::Ledger(const Campaign& campaign, const std::vector<CampaignCell>& cells, Manifest manifest, Precision precision,
               Journal& journal, Sink& sink, int attempts, std::size_t testbeds)
    : campaign_(campaign),
      cells_(cells),
      manifest_(std::move(manifest)),
      journal_(journal),
      sink_(sink),
      schedule_(cells, campaign.repeat, manifest_.seed, std::move(precision), attempts, testbeds),
      testbeds_(static_cast<std::int64_t>(testbeds)),
      earlier_wall_(manifest_.wall) {}

void Ledger::resume(const std::vector<EarlierRun>& runs) {
  for (const auto& run : runs) {
    schedule_.resume(run.cell_id, run.repetition, run.attempt, run.status, run.value);
    if (counts(run.status)) ++done_;
  }
}

Result<void> Ledger::open() {
  started_ = std::chrono::steady_clock::now();
  if (auto saved = save(); !saved) return saved;
  if (auto written = record_unsupported(); !written) return written;
  sink_.on(CampaignStarted{.name = campaign_.name,
                           .directory = {},
                           .cells = static_cast<std::int64_t>(cells_.size()),
                           .runs = schedule_.remaining(),
                           .finished = done_,
                           .estimate = expected()});
  return {};
}

void Ledger::know_facts(const std::string& node, std::string digest) {
  auto& known = digests_[node];
  if (!known.empty() && known != digest)
    sink_.on(WarningEvent{fmt::format("node {} is not as it was before (it has started anew?)", node)});
  known = std::move(digest);
}

Result<void> Ledger::add_facts(const std::string& node, const NodeFacts& facts) {
  auto digest = journal_.add_facts(facts);
  if (!digest) return tl::unexpected(digest.error());
  know_facts(node, std::move(*digest));
  return {};
}

RunRecord Ledger::blank(const PlannedRun& planned, const Testbed& testbed) const {
  const auto& cell = cells_[planned.cell];
  RunRecord record;
  record.run_id = run_id(cell, planned);
  record.cell_id = cell.id;
  record.workload = cell.cell.workload;
  record.parameters = cell.cell.parameters;
  record.repetition = planned.repetition;
  record.attempt = planned.attempt;
  record.topology = testbed.topology;
  record.started = wall_now();
  for (const auto& node : testbed.nodes)
    if (const auto digest = digests_.find(node.name); digest != digests_.end()) record.facts.insert(*digest);
  return record;
}

Result<std::optional<PlannedRun>> Ledger::keep(const RunRecord& record, const PlannedRun& planned) {
  if (auto kept = journal_.add_run(record); !kept) return tl::unexpected(kept.error());
  return account(record, planned);
}

std::optional<PlannedRun> Ledger::account(const RunRecord& record, const PlannedRun& planned, std::size_t testbed) {
  const auto& workload = workload_of(campaign_, cells_[planned.cell]);
  const auto value = headline(record, workload);
  auto again = schedule_.finished(planned, record.status, value, testbed);
  ++made_;
  if (counts(record.status)) ++done_;
  const auto* metric = workload.metrics.empty() ? nullptr : &workload.metrics.front();
  auto message = record.message;
  if (again)
    message += "; it is repeated";
  else if (schedule_.given_up(planned.cell))
    message += fmt::format("; given up after {} attempts", schedule_.limit(record.status));
  else if (schedule_.given_up_by(planned.cell, testbed))
    message +=
        fmt::format("; given up on this testbed after {} attempts, others try it", schedule_.limit(record.status));
  else if (record.status == Status::refused)
    message += "; it is put off until the others are through";
  sink_.on(RunFinished{.run_id = record.run_id,
                       .cell = describe(campaign_, cells_[planned.cell]),
                       .status = record.status,
                       .message = std::move(message),
                       .metric = metric == nullptr ? "" : metric->name,
                       .unit = metric == nullptr ? "" : metric->unit,
                       .value = value,
                       .done = done_,
                       .remaining = schedule_.remaining(),
                       .eta = time_left()});
  return again;
}

Nanoseconds Ledger::expected() const {
  return estimate(campaign_, cells_, schedule_.remaining_runs(), manifest_.virtual_clock.has_value()) / testbeds_;
}

Nanoseconds Ledger::time_left() const {
  if (made_ < kEnoughToExtrapolate) return expected();
  const auto spent = std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now() - started_);
  return spent / made_ * schedule_.remaining();
}

Result<void> Ledger::record_unsupported() {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i].unsupported.empty() || schedule_.unsupported(i)) continue;
    const PlannedRun planned{.cell = i, .repetition = 0, .attempt = schedule_.next_attempt(i, 0)};
    auto record = blank(planned, manifest_.testbed);
    record.status = Status::unsupported;
    record.message = cells_[i].unsupported;
    record.finished = record.started;
    if (auto kept = journal_.add_run(record); !kept) return kept;
    schedule_.finished(planned, Status::unsupported, std::nullopt);
  }
  return {};
}

Manifest Ledger::stamped() {
  const auto spent = std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now() - started_);
  manifest_.wall = earlier_wall_ + spent.count();
  return manifest_;
}

}  // namespace longhaul::orchestrator
