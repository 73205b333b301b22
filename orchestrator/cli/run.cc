// longhaul run.
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/json.hpp>
#include <memory>
#include <random>
#include <set>

#include "common/version.hh"
#include "lab/plan/inventory.hh"
#include "model/codec.hh"
#include "orchestrator/cli/campaign_run.hh"
#include "orchestrator/cli/certificate.hh"
#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/directory.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/journal.hh"
#include "orchestrator/cli/lab_session.hh"
#include "orchestrator/cli/open_testbed.hh"
#include "orchestrator/cli/sealed.hh"
#include "orchestrator/cli/slurm.hh"
#include "orchestrator/events/sinks.hh"
#include "orchestrator/run/drive.hh"
#include "orchestrator/run/links.hh"
#include "orchestrator/run/testbeds.hh"
#include "results/report/report.hh"

namespace longhaul::orchestrator {
namespace {

namespace json = boost::json;

// Emulated machines hang now and then, and agents in a job run out of memory: a campaign of an hour should not end by
// it.
constexpr int kSessions = 4;

// All that the campaign makes at the least.
std::vector<PlannedRun> planned_runs(const RunPlan& plan) {
  std::vector<PlannedRun> runs;
  for (std::size_t i = 0; i < plan.cells.size(); ++i)
    for (int r = 0; r < plan.campaign.repeat.min && plan.cells[i].unsupported.empty(); ++r)
      runs.push_back({.cell = i, .repetition = r, .attempt = 0});
  return runs;
}

// Prints the plan and runs nothing.
int show_plan(const RunPlan& plan, bool as_json) {
  const auto runs = planned_runs(plan);
  const auto time = estimate(plan.campaign, plan.cells, runs, false);
  const auto sealed = estimate(plan.campaign, plan.cells, runs, true);
  if (!as_json) {
    for (const auto& cell : plan.cells)
      fmt::print("{}  {}{}\n", cell.id, describe(plan.campaign, cell),
                 cell.unsupported.empty() ? "" : "  unsupported: " + cell.unsupported);
    fmt::print(
        "{}: {} cells, {} runs{}, about {} by hosts' clocks (emulated processors need 2 to 30 times that for it), "
        "{} by a virtual clock\n",
        plan.campaign.name, plan.cells.size(), runs.size(),
        plan.campaign.repeat.precision ? fmt::format(" at least (at most {} a cell)", plan.campaign.repeat.max) : "",
        format_span(time), format_span(sealed));
    return 0;
  }
  json::array cells;
  for (const auto& cell : plan.cells) {
    json::object one{{"cell", cell.id},
                     {"workload", cell.cell.workload},
                     {"text", describe(plan.campaign, cell)},
                     {"parameters", codec::encode(cell.cell.parameters)}};
    if (!cell.unsupported.empty()) one.emplace("unsupported", cell.unsupported);
    cells.push_back(one);
  }
  fmt::print("{}\n", json::serialize(json::object{{"name", plan.campaign.name},
                                                  {"cells", cells},
                                                  {"runs", runs.size()},
                                                  {"estimate", time.count()},
                                                  {"estimate_virtual", sealed.count()}}));
  return 0;
}

Result<lab::Lab> boot(const RunOptions& options, std::size_t clients, const std::optional<Manifest>& earlier,
                      Sink& sink) {
  auto topology = lab::parse_topology(options.topology);
  if (topology && *topology == lab::Topology::automatic && earlier)
    topology = lab::parse_topology(earlier->testbed.topology);
  if (!topology) return tl::unexpected(topology.error());
  lab::UpOptions asked;
  asked.name = fmt::format("run-{}", ::getpid());
  asked.topology = *topology;
  asked.clients = static_cast<unsigned>(clients);
  asked.kernel = kernel_for(options.kernel, earlier);
  asked.ephemeral = true;
  asked.progress = [&sink](const std::string& line) { sink.on(StepEvent{line}); };
  asked.cancelled = [] { return interrupted(); };
  return start_lab(std::move(asked));
}

Awaitable<void> pass_on_interrupts(Driver& driver, const bool& over) {
  while (!over) {
    co_await pause(std::chrono::milliseconds{100});
    if (interrupted()) driver.interrupt();
  }
}

// On this thread, until the campaign is over.
Result<void> drive(Driver& driver, boost::asio::io_context& io) {
  Result<void> outcome;
  std::exception_ptr broken;
  bool over = false;
  boost::asio::co_spawn(io, driver.run(), [&](std::exception_ptr error, Result<void> value) {
    broken = error;
    if (!error) outcome = std::move(value);
    over = true;
    io.stop();
  });
  boost::asio::co_spawn(io, pass_on_interrupts(driver, over), boost::asio::detached);
  io.run();
  // Handlers that still wait learn that the connections are closed.
  io.restart();
  io.run_for(std::chrono::milliseconds{150});
  if (broken) std::rethrow_exception(broken);
  return outcome;
}

int conclude(const RunOptions& options, const CampaignSession& session, Sink& sink) {
  const auto& outcome = session.outcome;
  const bool stopped = !outcome && outcome.error().exit_code == ExitCode::interrupted;
  const auto analysis = results::analyse_directory(options.out, results_vocabulary());
  if (!analysis) return report_error(outcome || stopped ? analysis.error() : outcome.error(), options.as_json);
  const auto written = results::write_report(options.out, *analysis);
  const auto cells = count_cells(analysis->summary, stopped ? Counted::done : Counted::all);
  auto unfinished = static_cast<std::int64_t>(analysis->summary.cells.size());
  for (const auto& [status, count] : cells) unfinished -= count;
  sink.on(CampaignFinished{.cells = cells,
                           .unfinished = unfinished,
                           .runs = session.made,
                           .wall = Nanoseconds{session.manifest.wall},
                           .measuring = Nanoseconds{session.manifest.measuring_of_one()},
                           .interrupted = stopped,
                           .directory = options.out});
  if (!outcome && !stopped) return report_error(outcome.error(), options.as_json);
  if (!written) return report_error(written.error(), options.as_json);
  if (stopped) return static_cast<int>(ExitCode::interrupted);
  if (!options.as_json) {
    fmt::print("{}\n", results::headline_of(*analysis));
    for (const auto& file : written->files) fmt::print("{}\n", file.string());
  }
  return exit_code_of(cells);
}

Result<std::vector<OpenTestbed>> open_testbeds(const std::vector<std::string>& inventories, Sink& sink) {
  std::vector<OpenTestbed> opened;
  for (const auto& inventory : inventories) {
    auto testbed = OpenTestbed::open(inventory, [&](const std::string& line) { sink.on(StepEvent{line}); });
    if (!testbed) return tl::unexpected(testbed.error());
    opened.push_back(std::move(*testbed));
  }
  return opened;
}

// Of what is not there yet, where each of the testbeds makes its share.
Nanoseconds time_needed(const RunPlan& plan, const std::vector<EarlierRun>& made, std::size_t testbeds) {
  std::set<std::pair<std::string, int>> there;
  for (const auto& run : made) there.emplace(run.cell_id, run.repetition);
  auto runs = planned_runs(plan);
  std::erase_if(runs, [&](const auto& run) { return there.contains({plan.cells[run.cell].id, run.repetition}); });
  return estimate(plan.campaign, plan.cells, runs, false) / testbeds;
}

// Of a job that ends before the campaign would.
void warn_of_time(const std::string& inventory, const OpenTestbed& opened, Nanoseconds needed, Sink& sink) {
  if (opened.left() && *opened.left() < needed)
    sink.on(
        WarningEvent{fmt::format("{} ends in {}, the campaign takes about {}: what is not made then, --resume makes "
                                 "in another job on the same nodes",
                                 inventory, format_span(*opened.left()), format_span(needed))});
}

// `directory` is opened here for a new campaign. An error is one before the first run.
Result<CampaignSession> run_session(const RunOptions& options, const RunPlan& plan,
                                    std::optional<RunDirectory>& directory, Sink& sink) {
  std::optional<lab::Lab> lab;
  if (options.lab) {
    auto booted = boot(options, most_clients(plan.cells), directory ? directory->manifest : std::nullopt, sink);
    if (!booted) return tl::unexpected(interrupted() ? Error{"interrupted", ExitCode::interrupted} : booted.error());
    lab = std::move(*booted);
  }
  const auto inventories = lab ? std::vector{lab->inventory_path()} : options.inventories;
  const auto found = open_testbeds(inventories, sink);
  if (!found) return tl::unexpected(found.error());
  std::vector<Testbed> testbeds;
  for (const auto& one : *found) testbeds.push_back(one.testbed());
  if (auto apart = check_apart(inventories, testbeds); !apart) return tl::unexpected(apart.error());
  for (const auto& testbed : testbeds)
    if (auto links = links_of(testbed, plan.cells); !links) return tl::unexpected(links.error());
  if (directory && directory->manifest) {
    auto same = check_resume(*directory->manifest, plan.campaign.file.text, options.seed, testbeds);
    if (same && lab) same = check_kernel(*directory->manifest, lab->kernel());
    if (!same) return refuse("{}: {}", options.out, same.error().message);
  }
  if (!directory) {
    auto opened = open_directory(destination_of(options), false, plan.campaign, options.seed);
    if (!opened) return tl::unexpected(opened.error());
    directory = std::move(*opened);
  }

  StoreJournal journal{directory->store};
  const auto dead_machine = [&lab]() -> std::string {
    const auto dead = lab ? lab->dead_machine() : std::nullopt;
    return dead ? fmt::format("machine {} of the lab has died", dead->name) : std::string{};
  };
  const auto needed = time_needed(plan, directory->runs, testbeds.size());
  std::vector<std::unique_ptr<Dialer>> dialers;
  std::vector<TestbedAccess> access;
  for (std::size_t i = 0; i < testbeds.size(); ++i) {
    dialers.push_back((*found)[i].dialer(dead_machine));
    access.push_back({.name = testbeds.size() > 1 ? inventories[i] : std::string{},
                      .testbed = testbeds[i],
                      .dialer = *dialers.back()});
    warn_of_time(inventories[i], (*found)[i], needed, sink);
  }
  const auto precision = [](const std::vector<double>& values) { return results::precision(values); };
  boost::asio::io_context io;
  boost::asio::thread_pool writer{1};
  auto manifest = make_manifest(options, plan, testbeds, directory->manifest);
  if (lab) manifest.lab_kernel = lab->kernel();
  Driver driver{plan.campaign, plan.cells, access, std::move(manifest),
                precision,     journal,    sink,   {.writer = writer.get_executor()}};
  driver.resume(directory->runs);
  CampaignSession session;
  session.outcome = drive(driver, io);
  session.made = driver.runs_made();
  session.manifest = driver.manifest();
  if (lab) session.consoles = lab->console_tails();
  session.agents_lost = std::any_of(found->begin(), found->end(), [](const auto& one) { return one.is_lost(); });
  return session;
}

std::optional<std::string> clock_of(const std::optional<RunDirectory>& directory) {
  if (!directory || !directory->manifest) return std::nullopt;
  return directory->manifest->virtual_clock ? kVirtualClock : kHostClock;
}

// Chooses the clock and sets all that depends on it.
Result<void> set_clock(RunOptions& options, RunPlan& plan, const std::optional<RunDirectory>& directory, Sink& sink) {
  auto clock = settle_clock(
      {.asked = options.clock, .lab = options.lab, .topology = options.topology, .begun = clock_of(directory)});
  if (!clock) return tl::unexpected(clock.error());
  if (clock->empty()) {
    const auto emulated = lab::would_be_emulated();
    if (!emulated) return tl::unexpected(emulated.error());
    *clock = *emulated ? kVirtualClock : kHostClock;
    if (*emulated)
      if (const auto qemu = lab::emulator_at_hand(); !qemu) {
        sink.on(WarningEvent{fmt::format("the lab goes by the host's clock, its figures vary with the host's load: {}",
                                         qemu.error().message)});
        *clock = kHostClock;
      }
  }
  options.clock = *clock;
  set_clock(plan.cells, options.clock);
  if (options.clock == kVirtualClock && !options.seed && !clock_of(directory)) options.seed = kVirtualSeed;
  return {};
}

// Cells that lie outside of the certificate are unsupported, and say why.
void leave_out(RunPlan& plan, const Certificate& certificate) {
  for (auto& cell : plan.cells)
    if (!cell.local && cell.unsupported.empty()) cell.unsupported = outside(certificate, cell.cell.parameters);
}

// Nothing is booted here.
int run_by_slurm(RunOptions options, RunPlan& plan) {
  if (!options.lab || !options.certificate.empty() || options.clock == kHostClock)
    return report_error(
        {.message = "--slurm is for --lab by a virtual clock, whose runs need nothing of each other, and "
                    "a share knows no --certificate"},
        options.as_json);
  options.clock = kVirtualClock;
  set_clock(plan.cells, options.clock);
  watch_interrupts();
  const auto sink = options.as_json ? make_json_sink(stdout) : make_text_sink(stderr, ::isatty(STDERR_FILENO) != 0);
  const auto session = run_on_slurm(options, plan, *sink);
  return session ? conclude(options, *session, *sink) : report_error(session.error(), options.as_json);
}

}  // namespace

int run_campaign(RunOptions options) {
  auto plan = read_plan(options.campaign);
  if (!plan) return report_error(plan.error(), options.as_json);
  std::optional<Certificate> certificate;
  if (!options.certificate.empty()) {
    auto read = read_certificate(options.certificate);
    if (!read) return report_error(read.error(), options.as_json);
    certificate = std::move(*read);
  }
  if (options.plan && certificate) {
    if (options.clock.empty())
      return report_error({.message = "--plan with --certificate: by which --clock, host or virtual?"},
                          options.as_json);
    set_clock(plan->cells, options.clock);
    leave_out(*plan, *certificate);
  }
  if (options.plan) return show_plan(*plan, options.as_json);
  if (options.out.empty())
    return report_error({.message = "--out DIR is missing: where the results go"}, options.as_json);
  if (options.lab == !options.inventories.empty())
    return report_error(
        {.message = "expected either --lab (a testbed of micro-VMs on this machine) or --inventory FILE "
                    "(agents that are there, or slurm:JOB)"},
        options.as_json);
  auto kernel = lab::settle_kernel(options.kernel);
  if (kernel && !options.lab && *kernel != lab::KernelChoice{})
    kernel =
        refuse("--kernel {}: only a lab boots a kernel; machines of an inventory have theirs", options.kernel.kernel);
  if (!kernel) return report_error(kernel.error(), options.as_json);
  options.kernel = std::move(*kernel);

  if (options.slurm.asked) return run_by_slurm(std::move(options), *plan);
  if (!options.slurm.partition.empty() || !options.slurm.sbatch.empty())
    return report_error({.message = "--partition and --sbatch are for --slurm"}, options.as_json);
  if (options.print_shards) {
    if (!options.certificate.empty())
      return report_error({.message = "--shards with --certificate: a share knows no certificate"}, options.as_json);
    if (options.clock == kHostClock)
      return report_error({.message = "--shards with --clock host: only runs by a virtual clock need nothing of each "
                                      "other; take --clock virtual"},
                          options.as_json);
    if (auto clock = settle_clock({.asked = kVirtualClock, .lab = options.lab, .topology = options.topology}); !clock)
      return report_error(clock.error(), options.as_json);
    for (const auto& command : shard_commands(options)) fmt::print("{}\n", command);
    return 0;
  }

  watch_interrupts();
  const auto sink = options.as_json ? make_json_sink(stdout) : make_text_sink(stderr, ::isatty(STDERR_FILENO) != 0);

  // All that can be refused is refused before anything is booted.
  std::optional<RunDirectory> directory;
  const auto go_on = [&]() -> Result<void> {
    directory.reset();
    auto opened = open_directory(destination_of(options), true, plan->campaign, options.seed);
    if (!opened) return tl::unexpected(opened.error());
    directory = std::move(*opened);
    return {};
  };
  if (auto ready = options.resume ? go_on() : check_new(destination_of(options)); !ready)
    return report_error(ready.error(), options.as_json);
  if (directory) warn_of_builds(*directory, version_text(), *sink);
  if (auto settled = set_clock(options, *plan, directory, *sink); !settled)
    return report_error(settled.error(), options.as_json);
  if (certificate) leave_out(*plan, *certificate);

  std::int64_t made = 0;
  for (int sessions = 1;; ++sessions) {
    const bool virtually = options.clock == kVirtualClock;
    auto session = virtually ? run_sealed_session(options, *plan, directory, *sink)
                             : run_session(options, *plan, directory, *sink);
    if (!session) return report_error(session.error(), options.as_json);
    const bool failed = !virtually && !session->outcome && session->outcome.error().exit_code == ExitCode::failure;
    if (failed) session->outcome.error().message += session->consoles;
    const bool another = failed && (options.lab || session->agents_lost) && session->made > 0 && sessions < kSessions;
    made += session->made;
    session->made = made;
    if (!another) return conclude(options, *session, *sink);
    sink->on(WarningEvent{fmt::format("{}: {}",
                                      options.lab ? "the lab is lost, another is booted" : "agents are started anew",
                                      session->outcome.error().message)});
    if (auto ready = go_on(); !ready) return report_error(ready.error(), options.as_json);
  }
}

void add_run(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  auto* command =
      app.add_subcommand("run", "run a campaign: every cell of its matrix, on a WAN that is emulated and measured");
  command->add_option("CAMPAIGN", options->campaign, "the campaign file (YAML), such as campaigns/quick.yaml")
      ->required();
  command->add_flag("--lab", options->lab,
                    "on a lab that is booted for it and goes with it; another takes its place when it is lost");
  command->add_option("--topology", options->topology, "of the lab: compact, full or automatic")->capture_default_str();
  add_kernel_options(*command, options->kernel);
  command
      ->add_option("--clock", options->clock,
                   "what times pass by: host, or virtual (every run a copy of a sealed lab, whose time is the "
                   "instructions that it has executed: figures repeat to the bit, whatever else the machine does); "
                   "without it virtual where the lab is emulated")
      ->type_name("host|virtual");
  command->add_option("--labs", options->labs, "by a virtual clock: copies side by side; without it one a processor");
  auto* shards =
      command
          ->add_option("--shards", options->shares,
                       "by a virtual clock: print so many commands that together make the campaign, on any machines; "
                       "longhaul merge joins what they give. With --slurm: so many tasks")
          ->check(CLI::Range(1, 100000));
  command->add_flag(
      "--slurm", options->slurm.asked,
      "by a virtual clock: as a job array of the Slurm cluster that this machine belongs to; what is lost "
      "is submitted again (docs/slurm.md)");
  add_slurm_options(*command, options->slurm);
  command->add_option("--shift", options->shift, "by a virtual clock: an instruction takes 2^N ns")
      ->check(CLI::Range(0, 2))
      ->capture_default_str();
  command
      ->add_option("--quantum", options->quantum,
                   "by a virtual clock: instructions by which two processors may be apart")
      ->check(CLI::Range(100, 100000))
      ->capture_default_str();
  command
      ->add_option(
          "--inventory", options->inventories,
          "on the testbed of this Ansible inventory, or on the nodes of a running Slurm job, slurm:JOB or "
          "slurm:JOB:FILE, where agents are started (docs/slurm.md); may be given several times: testbeds that are "
          "alike share the campaign's repetitions")
      ->allow_extra_args(false)
      ->type_name("FILE|slurm:JOB[:FILE]");
  command->add_option("--out", options->out, "the run directory: results.db, report.html, cells.csv, manifest.json");
  add_store_option(*command, options->store);
  command->add_flag("--resume", options->resume, "go on with what is in --out; nothing that is finished is run again");
  command->add_option(
      "--seed", options->seed,
      "of the order of the runs, and by a virtual clock of what varies between them; without it a random one, "
      "by a virtual clock 1; kept in the manifest");
  command
      ->add_option("--certificate", options->certificate,
                   "what degen's engines kept on this testbed (longhaul certify): cells outside of it are not run, and "
                   "say why")
      ->type_name("FILE");
  command->add_flag("--plan", options->plan, "print the cells and the time that they would take, and do nothing");
  command->add_flag("--json", options->as_json, "print progress as JSON, one document a line");
  command->footer(
      "Examples:\n  longhaul run campaigns/quick.yaml --plan\n  longhaul run campaigns/quick.yaml --lab --out "
      "out/quick\n"
      "  longhaul run campaigns/quick.yaml --inventory $(longhaul lab status --json | jq -r .labs[0].inventory) --out "
      "out/quick\n"
      "  longhaul run campaigns/quick.yaml --inventory east.yml --inventory west.yml --out out/quick\n"
      "  longhaul run campaigns/quick.yaml --inventory slurm:17 --out out/quick\n"
      "Exits with 0 when every cell is ok, limited or unsupported, with 3 when one was refused or failed.");
  command->callback([options, shards, &exit_code] {
    options->print_shards = shards->count() > 0 && !options->slurm.asked;
    if (options->slurm.asked && shards->count() == 0) options->shares = 0;
    exit_code = run_campaign(*options);
  });
}

}  // namespace longhaul::orchestrator
