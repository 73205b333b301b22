// longhaul inject: a fault into every moment of a run in turn, each on a fresh copy of a sealed lab.
#include <unistd.h>

#include <memory>

#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/sealed.hh"
#include "orchestrator/events/sinks.hh"
#include "orchestrator/run/links.hh"
#include "results/analyses/injections/injections.hh"
#include "results/report/report.hh"

namespace longhaul::orchestrator {
namespace {

using results::InjectionOutcome;

struct InjectOptions {
  RunOptions run = by_the_virtual_clock();
  std::vector<std::string> faults, targets, moments;  // only these; empty: all
  std::vector<std::string> only;                      // these, in words
  bool markdown = false;
  bool list = false;
};

std::vector<std::string> names_of(const auto& specs) {
  std::vector<std::string> names;
  for (const auto& spec : specs) names.push_back(spec.name);
  return names;
}

std::vector<std::string> all_targets() {
  std::vector<std::string> targets;
  for (const auto& fault : fault_specs())
    for (const auto& target : fault.targets)
      if (std::ranges::find(targets, target) == targets.end()) targets.push_back(target);
  return targets;
}

Result<std::vector<Injection>> chosen(const InjectOptions& options) {
  const auto wanted = [](const std::vector<std::string>& words, const std::string& word) {
    return words.empty() || std::ranges::find(words, word) != words.end();
  };
  std::vector<Injection> injections;
  for (const auto& words : options.only) {
    auto injection = injection_from_words(words);
    if (!injection) return tl::unexpected(injection.error());
    injections.push_back(std::move(*injection));
  }
  if (!injections.empty()) return injections;
  for (auto& one : all_injections())
    if (wanted(options.faults, one.fault) && wanted(options.targets, one.target) && wanted(options.moments, one.moment))
      injections.push_back(std::move(one));
  if (injections.empty())
    return refuse("no fault hits that at that moment; longhaul inject --list shows all there are");
  return injections;
}

void print_list() {
  fmt::print("Faults\n");
  for (const auto& fault : fault_specs()) {
    fmt::print("  {:<11} {}\n", fault.name, fault.text);
    std::string targets;
    for (const auto& target : fault.targets) targets += " " + target;
    fmt::print("  {:<11}  of{}\n", "", targets);
  }
  fmt::print("Moments of a run, in their order\n");
  for (const auto& moment : run_moments()) fmt::print("  {:<11} {}\n", moment.name, moment.text);
}

Result<std::vector<InjectionOutcome>> outcomes_of(const InjectOptions& options,
                                                  const std::vector<Injection>& injections, Sink& sink) {
  auto plan = read_plan(options.run.campaign);
  if (!plan) return tl::unexpected(plan.error());
  set_clock(plan->cells, kVirtualClock);
  const auto image = seal_for(options.run, *plan, sink);
  if (!image) return tl::unexpected(interrupted() ? Error{"interrupted", ExitCode::interrupted} : image.error());
  if (auto links = links_of(image->testbed, plan->cells); !links) return tl::unexpected(links.error());
  const auto manifest = make_manifest(options.run, *plan, {image->testbed}, std::nullopt);
  const auto vocabulary = results_vocabulary();
  const auto name = [&](const PlannedRun& run) { return describe(plan->campaign, plan->cells[run.cell]); };

  std::vector<PlannedRun> undisturbed, runs;
  for (std::size_t cell = 0; cell < plan->cells.size(); ++cell) {
    if (!plan->cells[cell].unsupported.empty())
      return refuse("{}: {}", describe(plan->campaign, plan->cells[cell]), plan->cells[cell].unsupported);
    undisturbed.push_back({.cell = cell});
    for (const auto& injection : injections) runs.push_back({.cell = cell, .injection = injection});
  }
  std::map<std::size_t, RunRecord> whole;
  auto made =
      make_unkept(*plan, manifest, *image, options.run.labs, sink, undisturbed,
                  [&](const PlannedRun& run, RunStory story) -> Result<std::optional<PlannedRun>> {
                    auto& record = story.attempts.back();
                    if (!counts(record.status))
                      return fail("{}: it does not end well even without a fault: {}", name(run), record.message);
                    whole.emplace(run.cell, std::move(record));
                    return std::nullopt;
                  });
  if (!made) return tl::unexpected(made.error());

  std::map<std::string, InjectionOutcome> by_words;
  const auto key = [](const PlannedRun& run) { return fmt::format("{} {}", run.cell, to_words(*run.injection)); };
  made =
      make_unkept(*plan, manifest, *image, options.run.labs, sink, runs,
                  [&](const PlannedRun& run, const RunStory& story) -> Result<std::optional<PlannedRun>> {
                    auto outcome = results::judge(*run.injection, name(run), story, whole.at(run.cell), vocabulary);
                    if (!outcome) return tl::unexpected(outcome.error());
                    sink.on(StepEvent{fmt::format("{}/{} {}: {}: {}{}", by_words.size() + 1, runs.size(), outcome->cell,
                                                  to_words(*run.injection), to_string(outcome->end),
                                                  outcome->messages.empty() ? "" : ": " + outcome->messages.front())});
                    by_words.emplace(key(run), std::move(*outcome));
                    return std::nullopt;
                  });
  // After Ctrl-C what was found until then is told.
  if (!made && !interrupted()) return tl::unexpected(made.error());
  std::vector<InjectionOutcome> outcomes;
  for (const auto& run : runs)
    if (const auto found = by_words.find(key(run)); found != by_words.end()) outcomes.push_back(found->second);
  if (interrupted())
    sink.on(WarningEvent{fmt::format("interrupted: {} of {} faults were tried", outcomes.size(), runs.size())});
  return outcomes;
}

int inject(const InjectOptions& options) {
  if (options.list) {
    print_list();
    return 0;
  }
  const auto& run = options.run;
  if (run.campaign.empty()) return report_error(Error{"CAMPAIGN is required", ExitCode::usage}, run.as_json);
  const auto injections = chosen(options);
  if (!injections) return report_error(injections.error(), run.as_json);
  watch_interrupts();
  const auto sink = run.as_json ? make_json_sink(stderr) : make_text_sink(stderr, ::isatty(STDERR_FILENO) != 0);
  const auto outcomes = outcomes_of(options, *injections, *sink);
  if (!outcomes) return report_error(outcomes.error(), run.as_json);
  tell(
      run.as_json, [&] { return results::to_json(*outcomes); },
      [&] { return results::to_text(*outcomes, options.markdown); });
  if (interrupted()) return static_cast<int>(ExitCode::interrupted);
  const bool wrong = std::ranges::any_of(*outcomes, [](const auto& outcome) { return !outcome.wrong.empty(); });
  return wrong ? static_cast<int>(ExitCode::incomplete) : 0;
}

}  // namespace

void add_inject(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<InjectOptions>();
  auto& run = options->run;
  auto* command = app.add_subcommand(
      "inject",
      "what a fault of a program or a machine does to a run: every fault at every moment, by a virtual clock");
  command->add_option("CAMPAIGN", run.campaign, "the campaign file (YAML): few cells, with short windows");
  command->add_option("--only", options->only, "this fault alone, such as 'kill bench@client at window'; repeatable");
  command->add_option("--fault", options->faults, "only these; repeatable")
      ->check(CLI::IsMember(names_of(fault_specs())));
  command->add_option("--target", options->targets, "only these; repeatable")->check(CLI::IsMember(all_targets()));
  command->add_option("--moment", options->moments, "only these; repeatable")
      ->check(CLI::IsMember(names_of(run_moments())));
  command->add_option("--seed", run.seed, "of what varies between runs")->capture_default_str();
  command->add_option("--labs", run.labs, "copies side by side; without it one a processor");
  add_kernel_options(*command, run.kernel);
  command->add_flag("--list", options->list, "print the faults and the moments, and do nothing");
  command->add_flag("--markdown", options->markdown, "print the table for a page of documentation");
  command->add_flag("--json", run.as_json, "print one JSON document");
  command->footer(
      "Examples:\n  longhaul inject campaigns/inject.yaml\n"
      "  longhaul inject campaigns/inject.yaml --fault kill --moment window\n"
      "  longhaul inject campaigns/inject.yaml --only 'stop degen at apply' --json\n"
      "Each fault hits a fresh copy of one lab, which goes on as a testbed that lives on.\n"
      "counts: the run counts. again: it failed and said why, and a later attempt counts. resumed: the session gave\n"
      "up and said why, and the next one, when the fault was over, counts. ended: none does.\n"
      "Exits with 3 when a figure counts that is off, a failure says nothing, or a testbed does not recover.");
  command->callback([options, &exit_code] { exit_code = inject(*options); });
}

}  // namespace longhaul::orchestrator
