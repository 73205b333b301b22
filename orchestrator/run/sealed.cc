#include "orchestrator/run/sealed.hh"

#include <algorithm>

#include "orchestrator/run/side_by_side.hh"

namespace longhaul::orchestrator {
namespace {

// Beyond three times what a run takes by its parameters.
constexpr std::int64_t kGrace = std::int64_t{60} * 1'000'000'000;
// Where a fault is injected: for all that then waits for somebody in vain, and for the attempts after it.
constexpr std::int64_t kRecovery = std::int64_t{240} * 1'000'000'000;

// Length of the window of the run's first process.
std::int64_t measured(const RunRecord& record) {
  for (const auto& [node, part] : record.nodes)
    if (part.role != Role::server) return part.window_stop - part.window_start;
  return 0;
}

}  // namespace

SealedDriver::SealedDriver(const Campaign& campaign, const std::vector<CampaignCell>& cells, Manifest manifest,
                           Precision precision, std::map<std::string, NodeFacts> facts, VirtualClock clock,
                           CopyRunner runner, Journal& journal, Sink& sink, SealedOptions options)
    : campaign_(campaign),
      cells_(cells),
      facts_(std::move(facts)),
      clock_(std::move(clock)),
      runner_(std::move(runner)),
      sink_(sink),
      options_(options),
      ledger_(campaign, cells, std::move(manifest), std::move(precision), journal, sink) {}

void SealedDriver::resume(const std::vector<EarlierRun>& runs) {
  ledger_.resume(runs);
  for (const auto& run : runs) {
    const auto cell =
        std::find_if(cells_.begin(), cells_.end(), [&](const auto& one) { return one.id == run.cell_id; });
    if (cell == cells_.end() || run.status != Status::ok || run.digest.empty()) continue;
    const PlannedRun planned{
        .cell = static_cast<std::size_t>(cell - cells_.begin()), .repetition = run.repetition, .attempt = run.attempt};
    digests_[run_id(*cell, planned)] = {planned, run.digest};
  }
}

SealedOrder SealedDriver::order(const PlannedRun& planned) const {
  const auto& cell = cells_[planned.cell];
  SealedOrder order;
  order.campaign_text = ledger_.manifest().campaign_text;
  order.clock = kVirtualClock;
  order.cell_id = cell.id;
  order.repetition = planned.repetition;
  order.attempt = planned.attempt;
  order.variation = vary(ledger_.manifest().seed, planned.repetition, planned.attempt);
  const auto& workload = workload_of(campaign_, cell);
  order.limit = (3 * window_of(workload, cell.cell) + 2 * further_patience(workload, cell.cell)).count() + kGrace;
  order.injection = planned.injection;
  if (order.injection) order.limit += kRecovery;
  return order;
}

RunStory SealedDriver::story(const PlannedRun& planned, const Result<std::string>& said) const {
  RunStory story;
  auto blank = ledger_.blank(planned, ledger_.manifest().testbed);
  blank.status = Status::failed;
  blank.finished = blank.started;
  auto saying = said ? understand_saying(*said) : tl::unexpected(said.error());
  if (!saying) {
    blank.message = saying.error().message;
  } else if (saying->records.empty()) {
    blank.message = saying->trouble.empty() ? "the copy of the sealed lab said nothing" : saying->trouble;
  } else if (const auto& told = saying->records.back(); told.cell_id != blank.cell_id) {
    blank.message = fmt::format("the copy of the sealed lab made cell {}, not {}", told.cell_id, blank.cell_id);
  } else {
    story.attempts = std::move(saying->records);
  }
  if (saying) story.injected = std::move(saying->injected);
  if (saying) story.resumed = saying->resumed;
  if (story.attempts.empty()) story.attempts.push_back(blank);
  for (auto& record : story.attempts) {
    record.repetition = planned.repetition;
    record.attempt = planned.attempt;
    record.run_id = blank.run_id;
    record.facts = blank.facts;
    record.virtual_clock = clock_;
    record.virtual_clock->seed = vary(ledger_.manifest().seed, planned.repetition, planned.attempt).seed;
    record.virtual_clock->digest = samples_digest(record);
  }
  return story;
}

std::vector<PlannedRun> SealedDriver::next_round() {
  std::vector<PlannedRun> runs;
  auto& schedule = ledger_.schedule();
  while (runs.empty() || !schedule.round_over()) {
    auto block = schedule.next_block();
    if (!block) break;
    for (const auto& run : block->runs)
      if (run.cell % options_.shares == options_.share) runs.push_back(run);
  }
  return runs;
}

Result<void> SealedDriver::make(const std::vector<PlannedRun>& runs, Take take,
                                const std::function<bool()>& interrupted) const {
  return run_side_by_side(
      runs,
      {.workers = options_.labs,
       .make = [this](const PlannedRun& run,
                      const std::function<bool()>& stopped) { return runner_(order(run), stopped); },
       .take = [&](const PlannedRun& run, const Result<std::string>& said) { return take(run, story(run, said)); },
       .interrupted = interrupted});
}

Result<void> SealedDriver::run(const std::function<bool()>& interrupted) {
  for (const auto& [node, facts] : facts_)
    if (auto kept = ledger_.add_facts(node, facts); !kept) return kept;
  if (auto opened = ledger_.open(); !opened) return opened;
  const auto keep = [&](const PlannedRun& run, const RunStory& story) {
    const auto& made = story.attempts.back();
    ledger_.manifest().measuring += measured(made);
    if (made.status == Status::ok) digests_[made.run_id] = {run, made.virtual_clock->digest};
    return ledger_.keep(made, run);
  };
  for (auto runs = next_round(); !runs.empty(); runs = next_round()) {
    auto outcome = make(runs, keep, interrupted);
    if (auto saved = ledger_.save(); outcome && !saved) outcome = saved;
    if (!outcome) return outcome;
  }
  if (auto checked = check_again(interrupted); !checked) {
    if (auto saved = ledger_.save(); !saved) return saved;
    return checked;
  }
  ledger_.manifest().finished = wall_now();
  return ledger_.save();
}

// The first, one of the middle and the last are made once more: they must give the same bits.
Result<void> SealedDriver::check_again(const std::function<bool()>& interrupted) {
  auto& clock = ledger_.manifest().virtual_clock;
  const bool nothing_new = ledger_.made() == 0 && clock && clock->check && clock->check->runs > 0;
  if (!clock || digests_.empty() || nothing_new) return {};
  std::vector<PlannedRun> chosen;
  for (const auto at : {std::size_t{0}, digests_.size() / 2, digests_.size() - 1}) {
    const auto& run = std::next(digests_.begin(), static_cast<std::ptrdiff_t>(at))->second.first;
    if (std::find(chosen.begin(), chosen.end(), run) == chosen.end()) chosen.push_back(run);
  }
  sink_.on(StepEvent{fmt::format("making {} runs once more: they must give the same bits", chosen.size())});
  auto& check = clock->check ? *clock->check : clock->check.emplace();
  return make(
      chosen,
      [&](const PlannedRun&, const RunStory& story) -> Result<std::optional<PlannedRun>> {
        const auto& again = story.attempts.back();
        const auto& first = digests_.at(again.run_id).second;
        ++check.runs;
        if (again.virtual_clock->digest == first) {
          ++check.equal;
        } else {
          check.different.push_back(again.run_id);
          sink_.on(WarningEvent{fmt::format("{} was made twice and is not the same: {} and {}{}", again.run_id, first,
                                            again.virtual_clock->digest,
                                            again.message.empty() ? "" : " (" + again.message + ")")});
        }
        return std::nullopt;
      },
      interrupted);
}

}  // namespace longhaul::orchestrator
