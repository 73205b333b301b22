// longhaul explore: a fault of every packet in turn, each on a fresh copy of a sealed lab.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "common/replace_file.hh"
#include "orchestrator/campaign/exploration.hh"
#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/sealed.hh"
#include "orchestrator/events/sinks.hh"
#include "results/analyses/faults/faults.hh"
#include "results/report/report.hh"

namespace longhaul::orchestrator {
namespace {

struct ExploreOptions {
  RunOptions run = by_the_virtual_clock();
  ExplorationRule rule;
};

// The exploration's own campaign, in its directory: what run, verify and --resume go by.
std::string plan_file(const std::string& out) {
  return (std::filesystem::path{out} / "exploration.yaml").string();
}

// Runs each cell once as it is.
Result<std::vector<PacketCount>> count_packets(const ExploreOptions& options, const RunPlan& plan, Sink& sink) {
  auto text = counting_text(plan.campaign, plan.cells, options.rule);
  if (!text) return tl::unexpected(text.error());
  auto counting = plan_of(options.run.campaign + " (to count its packets)", std::move(*text));
  if (!counting) return tl::unexpected(counting.error());
  set_clock(counting->cells, kVirtualClock);
  const auto image = seal_for(options.run, *counting, sink);
  if (!image) return tl::unexpected(interrupted() ? Error{"interrupted", ExitCode::interrupted} : image.error());
  sink.on(StepEvent{fmt::format("counting the packets of {} cells", counting->cells.size())});

  std::vector<PlannedRun> runs;
  for (std::size_t i = 0; i < counting->cells.size(); ++i) runs.push_back({.cell = i});
  std::vector<PacketCount> counts(runs.size());
  auto made = make_unkept(
      *counting, make_manifest(options.run, *counting, {image->testbed}, std::nullopt), *image, options.run.labs, sink,
      runs, [&](const PlannedRun& run, const RunStory& story) -> Result<std::optional<PlannedRun>> {
        const auto& record = story.attempts.back();
        const auto name = describe(counting->campaign, counting->cells[run.cell]);
        if (!record.path || !record.path->forward.packets || !record.path->back.packets)
          return fail("{}: it does not end well even without a fault: {}", name,
                      record.message.empty() ? "its packets were not counted" : record.message);
        counts[run.cell] = {.forward = *record.path->forward.packets, .back = *record.path->back.packets};
        sink.on(StepEvent{fmt::format("{}: {} packets to the server, {} back", name, counts[run.cell].forward,
                                      counts[run.cell].back)});
        return std::nullopt;
      });
  if (!made) return tl::unexpected(made.error());
  return counts;
}

// Writes the exploration's campaign, or takes the one that was begun.
Result<RunPlan> prepare(const ExploreOptions& options, Sink& sink) {
  const auto file = plan_file(options.run.out);
  if (options.run.resume) return read_plan(file);
  auto plan = read_plan(options.run.campaign);
  if (!plan) return plan;
  const auto counts = count_packets(options, *plan, sink);
  if (!counts) return tl::unexpected(counts.error());
  auto text = exploration_text(plan->campaign, plan->cells, *counts, options.rule);
  if (!text) return tl::unexpected(text.error());
  auto whole = plan_of(file, *text);
  if (!whole) return whole;
  std::filesystem::create_directories(options.run.out);
  if (auto written = replace_file(file, *text); !written) return tl::unexpected(written.error());
  return whole;
}

int explore(ExploreOptions options) {
  auto& run = options.run;
  // What is wrong with a fault is said before anything is booted.
  if (auto fault = exploration_text({}, {}, {}, options.rule); !fault) return report_error(fault.error(), run.as_json);
  if (!run.resume)
    if (auto fresh = check_new(destination_of(run)); !fresh) return report_error(fresh.error(), run.as_json);
  watch_interrupts();
  const auto sink = run.as_json ? make_json_sink(stderr) : make_text_sink(stderr, ::isatty(STDERR_FILENO) != 0);
  auto plan = prepare(options, *sink);
  if (!plan) return report_error(plan.error(), run.as_json);
  set_clock(plan->cells, kVirtualClock);
  run.campaign = plan_file(run.out);
  std::optional<RunDirectory> directory;
  if (run.resume) {
    auto opened = open_directory(destination_of(run), true, plan->campaign, run.seed);
    if (!opened) return report_error(opened.error(), run.as_json);
    directory = std::move(*opened);
  }
  const auto session = run_sealed_session(run, *plan, directory, *sink);
  if (!session) return report_error(session.error(), run.as_json);

  const auto vocabulary = results_vocabulary();
  const auto stored = results::load(run.out);
  auto summary = stored ? results::summarise(stored->manifest, stored->runs, stored->facts, vocabulary)
                        : tl::unexpected(stored.error());
  if (!summary) return report_error(session->outcome ? summary.error() : session->outcome.error(), run.as_json);
  const auto analysis = results::analyse(std::move(*summary), vocabulary);
  if (auto written = results::write_report(run.out, analysis); !written)
    return report_error(written.error(), run.as_json);
  if (!session->outcome) return report_error(session->outcome.error(), run.as_json);
  const auto found = results::explorations(stored->runs, vocabulary);
  if (!found) return report_error(found.error(), run.as_json);
  const auto document = results::to_json(*found, vocabulary);
  const auto file = (std::filesystem::path{run.out} / "faults.json").string();
  if (auto written = replace_file(file, document + "\n"); !written) return report_error(written.error(), run.as_json);
  tell(
      run.as_json, [&] { return document; }, [&] { return results::to_text(*found, vocabulary); }, {file});
  return 0;
}

}  // namespace

void add_explore(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExploreOptions>();
  auto& run = options->run;
  auto* command = app.add_subcommand(
      "explore", "which packet's loss costs what: a fault of every packet of a cell in turn, by a virtual clock");
  command->add_option("CAMPAIGN", run.campaign, "the campaign file (YAML): few cells, with short windows")->required();
  command->add_option("--out", run.out, "the run directory; exploration.yaml in it is the campaign that is made of it")
      ->required();
  add_store_option(*command, run.store);
  command
      ->add_option("--fault", options->rule.fault, "of each packet: drop, swap, duplicate, or such as 'delay by 5ms'")
      ->capture_default_str();
  command->add_option("--most", options->rule.most, "packets of a cell and a way that are tried, the first ones")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--pairs", options->rule.pairs, "pairs of packets, drawn at random, beside the single ones")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  command->add_option("--seed", run.seed, "of the pairs, and of what varies between runs")->capture_default_str();
  command->add_option("--labs", run.labs, "copies side by side; without it one a processor");
  add_kernel_options(*command, run.kernel);
  command->add_flag("--resume", run.resume, "go on with what is in --out");
  command->add_flag("--json", run.as_json, "print one JSON document");
  command->footer(
      "Example:\n  longhaul explore campaigns/explore.yaml --out out/explore\n"
      "Every run is a fresh copy of one lab, so a fault of packet 17 always hits the same packet. A run that fails is "
      "a "
      "finding: the exit code is 0.");
  command->callback([options, &exit_code] {
    options->rule.seed = options->run.seed.value_or(kVirtualSeed);
    exit_code = explore(*options);
  });
}

}  // namespace longhaul::orchestrator
