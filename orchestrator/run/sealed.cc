#include "orchestrator/run/sealed.hh"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "model/samples_digest.hh"

namespace longhaul::orchestrator {
namespace {

constexpr auto kGlance = std::chrono::milliseconds{100};
// Beyond three times what a run takes by its parameters.
constexpr std::int64_t kGrace = std::int64_t{60} * 1'000'000'000;

tl::unexpected<Error> interrupted_error() {
  return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
}

// What the window of the run's first process took.
std::int64_t measured(const RunRecord& record) {
  for (const auto& [node, part] : record.nodes)
    if (part.role != Role::server) return part.window_stop - part.window_start;
  return 0;
}

}  // namespace

// Runs under way on threads of their own; what comes of them is taken by the caller's.
struct SealedDriver::Round {
  using Outcome = std::pair<PlannedRun, Result<std::string>>;
  std::mutex mutex;
  std::condition_variable change;
  std::deque<PlannedRun> waiting;
  std::deque<Outcome> outcomes;
  std::size_t busy = 0;
  std::atomic<bool> stopped = false;

  // A worker's life: runs until there is nothing more to come.
  void work(const SealedDriver& driver) {
    std::unique_lock lock{mutex};
    for (;;) {
      change.wait(lock, [&] { return stopped || !waiting.empty() || (busy == 0 && outcomes.empty()); });
      if (stopped || waiting.empty()) return;
      const auto planned = waiting.front();
      waiting.pop_front();
      ++busy;
      lock.unlock();
      auto said = driver.runner_(driver.order(planned), [this] { return stopped.load(); });
      lock.lock();
      outcomes.emplace_back(planned, std::move(said));
      --busy;
      change.notify_all();
    }
  }

  void stop() {
    const std::scoped_lock lock{mutex};
    stopped = true;
    change.notify_all();
  }
};

SealedDriver::SealedDriver(const Campaign& campaign, const std::vector<CampaignCell>& cells, Manifest manifest,
                           Precision precision, std::map<std::string, NodeFacts> facts, VirtualClockRecord clock,
                           CopyRunner runner, Journal& journal, Sink& sink, SealedOptions options)
    : campaign_(campaign),
      cells_(cells),
      facts_(std::move(facts)),
      clock_(std::move(clock)),
      runner_(std::move(runner)),
      sink_(sink),
      options_(options),
      ledger_(campaign, cells, std::move(manifest), std::move(precision), journal, sink) {}

SealedOrder SealedDriver::order(const PlannedRun& planned) const {
  const auto& cell = cells_[planned.cell];
  SealedOrder order;
  order.campaign_file = ledger_.manifest().campaign_file;
  order.campaign_text = ledger_.manifest().campaign_text;
  order.clock = "virtual";
  order.cell_id = cell.id;
  order.repetition = planned.repetition;
  order.attempt = planned.attempt;
  order.variation = vary(ledger_.manifest().seed, planned.repetition, planned.attempt);
  order.limit = 3 * window_of(workload_of(campaign_, cell), cell.cell).count() + kGrace;
  return order;
}

RunRecord SealedDriver::record(const PlannedRun& planned, const Result<std::string>& said) const {
  auto record = ledger_.blank(planned);
  record.status = Status::failed;
  record.finished = record.started;
  if (!said) {
    record.message = said.error().message;
  } else if (auto saying = understand_saying(*said); !saying) {
    record.message = saying.error().message;
  } else if (saying->records.empty()) {
    record.message = saying->trouble.empty() ? "the copy of the sealed lab said nothing" : saying->trouble;
  } else {
    const auto facts = std::move(record.facts);
    record = std::move(saying->records.back());
    record.attempt = planned.attempt;
    record.run_id = run_id(cells_[planned.cell], planned);
    record.facts = facts;
  }
  record.virtual_clock = clock_;
  record.virtual_clock->seed = vary(ledger_.manifest().seed, planned.repetition, planned.attempt).seed;
  record.virtual_clock->digest = samples_digest(record);
  return record;
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

Result<void> SealedDriver::run(const std::function<bool()>& interrupted) {
  for (const auto& [node, facts] : facts_)
    if (auto kept = ledger_.add_facts(node, facts); !kept) return kept;
  if (auto opened = ledger_.open(); !opened) return opened;
  Result<void> outcome;
  for (auto runs = next_round(); outcome && !runs.empty(); runs = next_round()) {
    outcome = run_round(std::move(runs), interrupted);
    if (auto saved = ledger_.save(); outcome && !saved) outcome = saved;
    if (!outcome) return outcome;
  }
  ledger_.manifest().finished = wall_now();
  return ledger_.save();
}

Result<void> SealedDriver::run_round(std::vector<PlannedRun> runs, const std::function<bool()>& interrupted) {
  Round round;
  round.waiting.assign(runs.begin(), runs.end());
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < std::min(std::max<std::size_t>(options_.labs, 1), runs.size()); ++i)
    workers.emplace_back([&] { round.work(*this); });
  const auto take = [&]() -> Result<void> {
    std::unique_lock lock{round.mutex};
    while (!round.waiting.empty() || round.busy > 0 || !round.outcomes.empty()) {
      if (interrupted()) return interrupted_error();
      if (round.outcomes.empty()) {
        round.change.wait_for(lock, kGlance);
        continue;
      }
      auto [planned, said] = std::move(round.outcomes.front());
      round.outcomes.pop_front();
      lock.unlock();
      const auto made = record(planned, said);
      ledger_.manifest().measuring += measured(made);
      auto again = ledger_.keep(made, planned);
      lock.lock();
      if (!again) return tl::unexpected(again.error());
      if (*again) round.waiting.push_back(**again);
      round.change.notify_all();
    }
    return {};
  };
  auto outcome = take();
  round.stop();
  return outcome;
}

}  // namespace longhaul::orchestrator
