#include "orchestrator/run/testbed_driver.hh"

#include <algorithm>
#include <set>

#include "common/version.hh"
#include "orchestrator/run/order.hh"
#include "orchestrator/run/pending.hh"

namespace longhaul::orchestrator {
namespace {

constexpr int kLostInARow = 10;  // then something is broken for good
constexpr Nanoseconds kBetweenTries = std::chrono::milliseconds{300};
constexpr Nanoseconds kLookAgain = std::chrono::milliseconds{200};  // at what other testbeds may leave undone
constexpr std::int64_t kWindowProbes = 24;
constexpr Nanoseconds kFastestProbes = std::chrono::milliseconds{5};
constexpr Nanoseconds kSlowestProbes = std::chrono::milliseconds{50};

tl::unexpected<Error> interrupted_error() {
  return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
}

std::string router_of(const Testbed& testbed) {
  const auto routers = testbed.with_role(Role::router);
  return routers.empty() ? std::string{} : routers.front()->name;
}

// The paths of all links, each once.
std::vector<Link> distinct_paths(const std::vector<Link>& links) {
  std::vector<Link> result;
  for (const auto& link : links)
    for (auto& path : paths_of(link))
      if (std::find(result.begin(), result.end(), path) == result.end()) result.push_back(std::move(path));
  return result;
}

}  // namespace

TestbedDriver::TestbedDriver(const Campaign& campaign, const std::vector<CampaignCell>& cells,
                             const TestbedAccess& access, std::size_t taker, const DriveOptions& options,
                             Ledger& ledger, Sink& sink, const bool& stopped)
    : campaign_(campaign),
      cells_(cells),
      name_(access.name),
      testbed_(access.testbed),
      taker_(taker),
      options_(options),
      ledger_(ledger),
      sink_(sink),
      stopped_(stopped),
      tokens_(options.token_seed),
      nodes_(testbed_, access.dialer, tokens_.next(), [this] { return stopped_; }),
      emulation_(nodes_, router_of(testbed_), wan_) {}

void TestbedDriver::warn(const std::string& text) {
  emit(WarningEvent{name_.empty() ? text : fmt::format("{}: {}", name_, text)});
}

tl::unexpected<Error> TestbedDriver::lose(const Error& why) {
  lost_ = !stopped_;
  return tl::unexpected(why);
}

Result<void> TestbedDriver::plan() {
  auto links = links_of(testbed_, cells_);
  if (!links) return tl::unexpected(links.error());
  links_ = std::move(*links);
  std::map<std::string, std::set<std::string>> echoes;
  for (const auto& link : links_)
    if (!link.local()) echoes[link.server].insert(link.to.address);
  for (auto& [node, addresses] : echoes) nodes_.echo_at(node, std::move(addresses));
  return {};
}

Awaitable<Result<void>> TestbedDriver::make_runs() {
  for (;;) {
    auto block = ledger_.schedule().next_block(taker_);
    if (block) {
      auto ran = co_await run_block(std::move(*block));
      if (!ran) co_return ran;
      const auto save = [this, now = ledger_.stamped()] { return ledger_.journal().save_manifest(now); };
      auto saved = co_await write_by(options_.writer, save);
      if (!saved) co_return saved;
    } else if (ledger_.schedule().taken()) {
      if (stopped_) co_return interrupted_error();
      co_await pause(kLookAgain);
    } else {
      co_return Result<void>{};
    }
  }
}

Awaitable<void> TestbedDriver::leave() {
  co_await drop_prepared();
  const auto router = router_of(testbed_);
  const bool used = std::any_of(links_.begin(), links_.end(), [](const Link& link) { return !link.local(); });
  if (!used || router.empty() || !nodes_.connected(router)) co_return;
  auto cleared = co_await emulation_.clear();
  if (!cleared) warn(fmt::format("{}; the router's lease ends the impairment", cleared.error().message));
}

Awaitable<Result<void>> TestbedDriver::connect() {
  co_await drop_prepared();
  wan_.reconnected();
  auto anew = co_await nodes_.ensure(nodes_.facts().empty() ? options_.connect_timeout : options_.return_timeout);
  if (!anew) co_return lose(anew.error());
  bool emulated = testbed_.emulated;
  for (const auto& [node, facts] : nodes_.facts()) {
    emulated = emulated || facts.emulated;
    const auto keep = [this, &told = facts] { return ledger_.journal().add_facts(told); };
    auto digest = co_await write_by(options_.writer, keep);
    if (!digest) co_return tl::unexpected(digest.error());
    ledger_.know_facts(node, std::move(*digest));
    if (!anew->empty() && facts.longhaul_version != version_text() && ledger_.made() == 0)
      warn(fmt::format("node {} runs longhaul {}, this is {}", node, facts.longhaul_version, version_text()));
  }
  wan_.set_emulated(emulated);
  co_return Result<void>{};
}

Awaitable<Result<bool>> TestbedDriver::make_ready(bool crossing) {
  const bool complete = nodes_.all_connected();
  if (complete && !(crossing && wan_.stale())) co_return true;
  if (ledger_.made() > 0 && !complete) warn("an agent is gone; waiting until it is back");
  auto connected = co_await connect();
  if (!connected) co_return tl::unexpected(connected.error());
  if (!crossing) co_return false;
  const auto paths = distinct_paths(links_);
  if (const auto given = std::exchange(options_.baseline, std::nullopt)) wan_.take(*given, paths);
  if (!wan_.stale()) co_return true;
  auto measured = co_await emulation_.measure_baseline(paths);
  if (measured) co_return true;
  // A node was lost again, or its degen is just starting.
  if (++unmeasured_ >= kLostInARow) co_return lose(measured.error());
  co_await pause(kBetweenTries);
  co_return false;
}

Awaitable<Admitted<void>> TestbedDriver::put_in_place(Block block) {
  const auto& parameters = cells_[block.runs.front().cell].cell.parameters;
  auto placed = co_await emulation_.put_in_place(choice_of(parameters, "engine", "netem"),
                                                 degen::impairment_part(parameters), block_links_);
  if (!placed) co_return tl::unexpected(placed.error());
  if (!std::exchange(announced_, true))
    emit(BlockStarted{.testbed = name_,
                      .impairment = degen::describe(wan_.asked()),
                      .engine = placed->engine.empty() ? wan_.engine() : placed->engine,
                      .repetition = block.repetition,
                      .runs = static_cast<std::int64_t>(block.runs.size()),
                      .tries = wan_.tries(),
                      .asked = placed->forward.asked,
                      .programmed = placed->forward.programmed,
                      .achieved = placed->forward.achieved,
                      .asked_back = placed->back.asked,
                      .programmed_back = placed->back.programmed,
                      .achieved_back = placed->back.achieved});
  co_return Admitted<void>{};
}

Awaitable<Result<void>> TestbedDriver::run_block(Block block) {
  std::vector<Link> links;
  for (const auto& run : block.runs) links.push_back(links_[run.cell]);
  block_links_ = distinct_paths(links);
  const bool crossing = !block_links_.empty();  // else these cells need neither a path nor the router
  wan_.begin_block();
  announced_ = false;
  unmeasured_ = 0;
  auto queue = block.runs;
  while (!queue.empty()) {
    if (stopped_) co_return interrupted_error();
    auto ready = co_await make_ready(crossing);
    if (!ready) co_return tl::unexpected(ready.error());
    if (!*ready) continue;
    Admitted<void> placed;
    if (crossing && !wan_.in_place()) placed = co_await put_in_place(block);
    if (!placed && (!nodes_.all_connected() || stopped_)) continue;  // nothing was tried of a run
    const auto planned = queue.front();
    queue.erase(queue.begin());
    RunRecord record;
    if (!placed) {
      record = ledger_.blank(planned, testbed_);
      record.status = placed.error().status;
      record.message = placed.error().message;
      record.finished = wall_now();
    } else if (crossing) {
      record = co_await run_one(planned, queue.empty() ? std::nullopt : std::optional{queue.front()});
    } else {
      record = co_await run_local(planned);
    }
    const bool useful = counts(record.status) || record.status == Status::unsupported;
    if (stopped_ && !useful) co_return interrupted_error();  // not the cell's fault
    if (useful) unmeasured_ = 0;
    const auto keep = [this, &record] { return ledger_.journal().add_run(record); };
    auto kept = co_await write_by(options_.writer, keep);
    if (!kept) co_return kept;
    if (const auto again = ledger_.account(record, planned, taker_)) queue.push_back(*again);
  }
  co_return Result<void>{};
}

Awaitable<RunRecord> TestbedDriver::run_one(PlannedRun planned, std::optional<PlannedRun> following) {
  auto record = ledger_.blank(planned, testbed_);
  const auto& cell = cells_[planned.cell];
  const auto& link = links_[planned.cell];
  const auto asked = request(planned);
  emit(RunStarted{.testbed = name_,
                  .cell = describe(campaign_, cell),
                  .repetition = planned.repetition,
                  .attempt = planned.attempt});

  PreparedRun prepared;
  if (prepared_ && prepared_for_ == planned) {
    prepared = co_await prepared_.wait();
  } else {
    co_await drop_prepared();
    prepared = co_await prepare(nodes_, asked);
  }

  PathEvidence evidence{.engine = link.path == "wan" ? wan_.engine() : "none",
                        .during = {},
                        .before = wan_.achieved(),
                        .after = {},
                        .round_trips = {},
                        .probes = 0,
                        .round_trip_unimpaired = wan_.unimpaired_round_trip(link),
                        .within_tolerance = true};
  const auto executor = co_await boost::asio::this_coro::executor;
  Pending<Result<agents::ProbeResult>> probes;
  RunHooks hooks;
  hooks.stopped = [this] { return stopped_; };
  hooks.window_open = [&] {
    const auto& workload = workload_of(campaign_, cell);
    const auto window = find_parameter(workload.parameters, "duration") == nullptr
                            ? window_of(workload, cell.cell)
                            : Nanoseconds{integer(asked.parameters, workload.parameters, "duration")};
    const auto interval = std::clamp(window / kWindowProbes, kFastestProbes, kSlowestProbes);
    const auto count = std::max<std::int64_t>(window / interval - 1, 1);
    evidence.probes = static_cast<std::uint64_t>(count);
    probes = Pending<Result<agents::ProbeResult>>::launch(executor,
                                                          nodes_.probe(link, count, interval, wan_.probe_timeout()));
  };
  // While the processes write their records and go: nothing of the run is on the path any more.
  Pending<PathSurvey> surveyed;
  hooks.window_closed = [&] {
    surveyed = Pending<PathSurvey>::launch(executor, survey(std::move(probes)));
    if (!following || prepared_) return;
    prepared_for_ = following;
    prepared_ = Pending<PreparedRun>::launch(executor, prepare(nodes_, request(*following)));
  };
  auto outcome = co_await execute(nodes_, asked, std::move(prepared), hooks);

  take(std::move(outcome), record);
  const bool measured = counts(record.status);
  if (!surveyed && measured) surveyed = Pending<PathSurvey>::launch(executor, survey(std::move(probes)));
  if (surveyed) {
    auto path = co_await surveyed.wait();
    if (measured) judge(record, std::move(evidence), std::move(path));
  } else if (probes) {  // NOLINT(bugprone-use-after-move): moved from only where `surveyed` is set
    co_await probes.wait();
  }
  if (record.status == Status::failed) wan_.failed();
  co_return record;
}

Awaitable<RunRecord> TestbedDriver::run_local(PlannedRun planned) {
  auto record = ledger_.blank(planned, testbed_);
  emit(RunStarted{.testbed = name_,
                  .cell = describe(campaign_, cells_[planned.cell]),
                  .repetition = planned.repetition,
                  .attempt = planned.attempt});
  RunHooks hooks;
  hooks.stopped = [this] { return stopped_; };
  PreparedRun nothing;
  auto outcome = co_await execute(nodes_, request(planned), std::move(nothing), hooks);
  take(std::move(outcome), record);
  co_return record;
}

void TestbedDriver::take(RunOutcome outcome, RunRecord& record) {
  record.status = outcome.status;
  record.message = std::move(outcome.message);
  record.nodes = std::move(outcome.nodes);
  record.finished = wall_now();
  ledger_.manifest().measuring += outcome.measuring;
}

Awaitable<PathSurvey> TestbedDriver::survey(Pending<Result<agents::ProbeResult>> probes) {
  PathSurvey path;
  if (probes) {
    auto result = co_await probes.wait();
    if (result) path.round_trips = std::move(result->round_trips);
  }
  path.during = co_await emulation_.take_report();
  if (path.during) path.after = co_await emulation_.measure(block_links_);
  co_return path;
}

void TestbedDriver::judge(RunRecord& record, PathEvidence evidence, PathSurvey path) {
  if (!path.during || !path.after) {
    record.status = Status::failed;
    record.message = fmt::format("the path could not be measured: {}",
                                 (path.during ? path.after.error() : path.during.error()).message);
    return;
  }
  const auto admitted = wan_.measured(*path.during, evidence.probes, path.after->report);
  evidence.round_trips = std::move(path.round_trips);
  evidence.during = std::move(*path.during);
  if (wan_.crosses()) {
    const auto& used = path.after->report;
    if (!used.engine.empty()) evidence.engine = used.engine;
    evidence.chosen = used.chosen;
    evidence.seed = used.seed;
    evidence.after = achieved(path.after->report);
    evidence.packets_forward = path.after->report.forward.packets;
    evidence.packets_back = path.after->report.back.packets;
  }
  evidence.within_tolerance = admitted.has_value();
  record.path = path_record(evidence);
  if (admitted) return;
  record.status = admitted.error().status;
  record.message = admitted.error().message;
}

Awaitable<void> TestbedDriver::drop_prepared() {
  if (!prepared_) co_return;
  auto prepared = co_await prepared_.wait();
  co_await discard(nodes_, request(*prepared_for_), std::move(prepared));
  prepared_ = {};
  prepared_for_.reset();
}

RunRequest TestbedDriver::request(const PlannedRun& planned) {
  const auto& cell = cells_[planned.cell];
  RunRequest request;
  request.run_id = run_id(cell, planned);
  request.workload = cell.cell.workload;
  request.parameters = workload_parameters(campaign_, cell);
  const auto& workload = workload_of(campaign_, cell);
  if (options_.short_windows) request.parameters = sealed_window(campaign_, cell, std::move(request.parameters));
  request.parameters = vary_payload(std::move(request.parameters), workload, options_.payload);
  request.padding = options_.padding;
  if (!links_[planned.cell].local()) request.token = tokens_.next();
  request.transport = choice_of(cell.cell.parameters, "transport");
  request.link = links_[planned.cell];
  const auto further = further_patience(workload, cell.cell);
  request.setup_timeout = options_.setup_timeout + further;
  request.window_timeout = 3 * window_of(workload, cell.cell) + options_.window_grace + further;
  return request;
}

}  // namespace longhaul::orchestrator
