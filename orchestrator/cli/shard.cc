// longhaul shard, merge: a campaign by a virtual clock in parts that need nothing of each other, on any machines.
#include <unistd.h>

#include <memory>

#include "common/share.hh"
#include "common/version.hh"
#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/merge.hh"
#include "orchestrator/cli/sealed.hh"
#include "orchestrator/events/sinks.hh"
#include "results/report/report.hh"

namespace longhaul::orchestrator {
namespace {

struct MergeOptions {
  std::vector<std::string> parts;
  std::string out;
  std::string store;
  bool as_json = false;
};

int shard(RunOptions options, const std::string& share) {
  const auto its = parse_share(share);
  if (!its) return report_error({.message = "--share " + its.error().message}, options.as_json);
  options.share = its->number - 1;
  options.shares = its->of;
  auto plan = read_plan(options.campaign);
  if (!plan) return report_error(plan.error(), options.as_json);
  set_clock(plan->cells, kVirtualClock);
  watch_interrupts();
  const auto sink = options.as_json ? make_json_sink(stdout) : make_text_sink(stderr, ::isatty(STDERR_FILENO) != 0);
  // One that was begun is gone on with: a job may be started twice.
  std::optional<RunDirectory> directory;
  if (!check_new(destination_of(options))) {
    auto opened = open_directory(destination_of(options), true, plan->campaign, options.seed);
    if (!opened) return report_error(opened.error(), options.as_json);
    directory = std::move(*opened);
    warn_of_builds(*directory, version_text(), *sink);
  }
  const auto session = run_sealed_session(options, *plan, directory, *sink);
  if (!session) return report_error(session.error(), options.as_json);
  if (!session->outcome) return report_error(session->outcome.error(), options.as_json);
  const auto summary = results::summarise_directory(options.out, results_vocabulary());
  return summary ? exit_code_of(count_cells(*summary, Counted::tried)) : report_error(summary.error(), options.as_json);
}

int merge_and_report(const MergeOptions& options) {
  if (auto merged = merge(options.parts, {.out = options.out, .store = options.store}); !merged)
    return report_error(merged.error(), options.as_json);
  const auto analysis = results::analyse_directory(options.out, results_vocabulary());
  if (!analysis) return report_error(analysis.error(), options.as_json);
  const auto written = results::write_report(options.out, *analysis);
  if (!written) return report_error(written.error(), options.as_json);
  for (const auto& file : written->files) fmt::print("{}\n", file.string());
  return 0;
}

}  // namespace

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-+=./:,@%") == std::string::npos;
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out + "'";
}

std::string share_command(const RunOptions& options, const ShareWords& words) {
  return fmt::format("shard {} --share {} --seed {} --shift {} --quantum {}{} --out {}{}", words.campaign, words.share,
                     options.seed.value_or(kVirtualSeed), options.shift, options.quantum, kernel_words(options.kernel),
                     words.out, words.store.empty() ? "" : " --store " + words.store);
}

std::vector<std::string> shard_commands(const RunOptions& options) {
  std::vector<std::string> commands;
  for (std::size_t i = 1; i <= options.shares; ++i) {
    ShareWords words{.campaign = shell_word(options.campaign),
                     .share = fmt::format("{}/{}", i, options.shares),
                     .out = shell_word(fmt::format("{}.{}", options.out, i)),
                     .store = {}};
    // A share is a campaign of its own in a store, too: merge joins them. One without a name is called as its
    // directory.
    const bool named = options.store.find('#') != std::string::npos;
    if (!options.store.empty())
      words.store = shell_word(named ? fmt::format("{}.{}", options.store, i) : options.store);
    commands.push_back("longhaul " + share_command(options, words));
  }
  return commands;
}

void add_shard(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  auto share = std::make_shared<std::string>();
  options->lab = true;
  options->clock = kVirtualClock;
  options->labs = 1;
  options->seed = kVirtualSeed;
  auto* one = app.add_subcommand("shard", "make a share of a campaign by a virtual clock: a job that needs no network");
  one->add_option("CAMPAIGN", options->campaign, "the campaign file (YAML)")->required();
  one->add_option("--share", *share, "which share of how many, such as 2/8")->required();
  one->add_option("--out", options->out, "the share's run directory; one that was begun is gone on with")->required();
  add_store_option(*one, options->store);
  one->add_option("--seed", options->seed, "as for run")->capture_default_str();
  one->add_option("--labs", options->labs, "copies side by side")->capture_default_str();
  one->add_option("--shift", options->shift, "as for run")->check(CLI::Range(0, 2))->capture_default_str();
  one->add_option("--quantum", options->quantum, "as for run")->check(CLI::Range(100, 100000))->capture_default_str();
  add_kernel_options(*one, options->kernel);
  one->add_flag("--json", options->as_json, "print progress as JSON, one document a line");
  one->footer(
      "Example:\n  longhaul shard campaigns/quick.yaml --share 1/2 --out out/quick.1\n"
      "`longhaul run --lab --shards N --out DIR` prints the commands of all shares.");
  one->callback([options, share, &exit_code] { exit_code = shard(*options, *share); });

  auto parts = std::make_shared<MergeOptions>();
  auto* two = app.add_subcommand("merge", "join the shares of a campaign");
  two->add_option("PART", parts->parts, "run directories of longhaul shard, or their addresses in PostgreSQL")
      ->required();
  two->add_option("--out", parts->out, "the campaign's run directory")->required();
  add_store_option(*two, parts->store);
  two->add_flag("--json", parts->as_json, "print errors as JSON");
  two->footer(
      "Example:\n  longhaul merge out/quick.1 out/quick.2 --out out/quick\n"
      "Shares of another campaign, seed, image or QEMU are refused.");
  two->callback([parts, &exit_code] { exit_code = merge_and_report(*parts); });
}

}  // namespace longhaul::orchestrator
