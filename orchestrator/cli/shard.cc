// longhaul shard, merge: a campaign by a virtual clock in parts that need nothing of each other, on any machines.
#include <unistd.h>

#include <memory>

#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/sealed.hh"
#include "orchestrator/events/sinks.hh"
#include "results/compare/records.hh"
#include "results/report/report.hh"

namespace longhaul::orchestrator {
namespace {

struct MergeOptions {
  std::vector<std::string> parts;
  std::string out;
  bool as_json = false;
};

// "2/8": the second of eight.
Result<void> read_share(const std::string& text, RunOptions& options) {
  std::size_t number = 0, of = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%zu/%zu%c", &number, &of, &rest) != 2 || number < 1 || number > of)
    return refuse("--share {}: expected such as 2/8, the second of eight", text);
  options.share = number - 1;
  options.shares = of;
  return {};
}

int shard(RunOptions options, const std::string& share) {
  if (auto read = read_share(share, options); !read) return report_error(read.error(), options.as_json);
  auto plan = read_plan(options.campaign);
  if (!plan) return report_error(plan.error(), options.as_json);
  set_clock(plan->cells, kVirtualClock);
  watch_interrupts();
  const auto sink = options.as_json ? make_json_sink(stdout) : make_text_sink(stderr, ::isatty(STDERR_FILENO) != 0);
  // One that was begun is gone on with: a job may be started twice.
  std::optional<RunDirectory> directory;
  if (!check_new(options.out)) {
    auto opened = open_directory(options.out, true, plan->campaign, options.seed);
    if (!opened) return report_error(opened.error(), options.as_json);
    directory = std::move(*opened);
  }
  const auto session = run_sealed_session(options, *plan, directory, *sink);
  if (!session) return report_error(session.error(), options.as_json);
  if (!session->outcome) return report_error(session->outcome.error(), options.as_json);
  return 0;
}

// What two parts must have in common.
Result<void> check_alike(const Manifest& first, const Manifest& other) {
  if (!first.virtual_clock || !other.virtual_clock)
    return refuse("it was measured by the host's clock: only parts by a virtual clock are one campaign");
  if (first.campaign_text != other.campaign_text) return refuse("it is of another campaign");
  if (first.seed != other.seed) return refuse("its seed is {}, not {}", other.seed, first.seed);
  const auto& a = *first.virtual_clock;
  const auto& b = *other.virtual_clock;
  if (a.shift != b.shift || a.quantum != b.quantum)
    return refuse("its clock is another: shift {}, quantum {}", b.shift, b.quantum);
  if (a.qemu != b.qemu) return refuse("its QEMU is {}, not {}", b.qemu, a.qemu);
  if (a.image != b.image) return refuse("its lab is {}, not {}: other programs, or another kernel", b.image, a.image);
  return {};
}

// Adds what a part has; a run that is there already must be the same.
Result<void> add_part(results::Store& whole, std::map<std::string, RunRecord>& known, const results::Store& part) {
  const auto facts = part.facts();
  if (!facts) return tl::unexpected(facts.error());
  for (const auto& [digest, one] : *facts)
    if (auto kept = whole.add_facts(digest, one); !kept) return kept;
  const auto runs = part.runs();
  if (!runs) return tl::unexpected(runs.error());
  for (const auto& run : *runs) {
    const auto found = known.find(run.run_id);
    if (found == known.end()) {
      if (auto kept = whole.add_run(run); !kept) return kept;
      known.emplace(run.run_id, run);
      continue;
    }
    // What was not measured has only times of the host's.
    if (run.nodes.empty() && found->second.nodes.empty()) continue;
    if (const auto where = results::first_difference(found->second, run); !where.empty())
      return fail("run {} is there twice and not the same: {}", run.run_id, where);
  }
  return {};
}

Result<void> merge(const MergeOptions& options) {
  if (auto fresh = check_new(options.out); !fresh) return fresh;
  std::vector<results::Store> parts;
  std::optional<Manifest> manifest;
  for (const auto& directory : options.parts) {
    auto part = results::Store::open(directory, results::OpenMode::read);
    if (!part) return tl::unexpected(part.error());
    const auto its = part->manifest();
    if (!its) return tl::unexpected(its.error());
    if (auto alike = check_alike(manifest.value_or(*its), *its); !alike)
      return refuse("{}: {}", directory, alike.error().message);
    if (!manifest) {
      manifest = *its;
    } else {
      manifest->wall += its->wall;
      manifest->measuring += its->measuring;
      manifest->started = std::min(manifest->started, its->started);
      // Whole when every part is.
      manifest->finished =
          its->finished == 0 || manifest->finished == 0 ? 0 : std::max(manifest->finished, its->finished);
      if (const auto& check = its->virtual_clock->check) {
        auto& all =
            manifest->virtual_clock->check ? *manifest->virtual_clock->check : manifest->virtual_clock->check.emplace();
        all.runs += check->runs;
        all.equal += check->equal;
        all.different.insert(all.different.end(), check->different.begin(), check->different.end());
      }
    }
    parts.push_back(std::move(*part));
  }
  auto whole = results::Store::open(options.out, results::OpenMode::create);
  if (!whole) return tl::unexpected(whole.error());
  std::map<std::string, RunRecord> known;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (auto added = add_part(*whole, known, parts[i]); !added)
      return fail("{}: {}", options.parts[i], added.error().message);
  return whole->save_manifest(*manifest);
}

int merge_and_report(const MergeOptions& options) {
  if (auto merged = merge(options); !merged) return report_error(merged.error(), options.as_json);
  const auto written = results::write_report(options.out, results_vocabulary());
  if (!written) return report_error(written.error(), options.as_json);
  for (const auto& file : written->files) fmt::print("{}\n", file.string());
  return 0;
}

}  // namespace

std::vector<std::string> shard_commands(const RunOptions& options) {
  std::vector<std::string> commands;
  for (std::size_t i = 1; i <= options.shares; ++i)
    commands.push_back(fmt::format("longhaul shard {} --share {}/{} --seed {} --shift {} --quantum {} --out {}.{}",
                                   options.campaign, i, options.shares, options.seed.value_or(kVirtualSeed),
                                   options.shift, options.quantum, options.out, i));
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
  one->add_option("--seed", options->seed, "as for run")->capture_default_str();
  one->add_option("--labs", options->labs, "copies side by side")->capture_default_str();
  one->add_option("--shift", options->shift, "as for run")->check(CLI::Range(0, 2))->capture_default_str();
  one->add_option("--quantum", options->quantum, "as for run")->check(CLI::Range(100, 100000))->capture_default_str();
  one->add_flag("--json", options->as_json, "print progress as JSON, one document a line");
  one->footer(
      "Example:\n  longhaul shard campaigns/quick.yaml --share 1/2 --out out/quick.1\n"
      "`longhaul run --lab --shards N --out DIR` prints the commands of all shares.");
  one->callback([options, share, &exit_code] { exit_code = shard(*options, *share); });

  auto parts = std::make_shared<MergeOptions>();
  auto* two = app.add_subcommand("merge", "join the shares of a campaign");
  two->add_option("PART", parts->parts, "run directories of longhaul shard")->required();
  two->add_option("--out", parts->out, "the campaign's run directory")->required();
  two->add_flag("--json", parts->as_json, "print errors as JSON");
  two->footer(
      "Example:\n  longhaul merge out/quick.1 out/quick.2 --out out/quick\n"
      "Shares of another campaign, seed, image or QEMU are refused.");
  two->callback([parts, &exit_code] { exit_code = merge_and_report(*parts); });
}

}  // namespace longhaul::orchestrator
