// longhaul verify: a result directory is made again, and compared bit by bit.
#include <unistd.h>

#include <memory>
#include <thread>

#include <boost/json.hpp>

#include "common/printable.hh"
#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/sealed.hh"
#include "orchestrator/events/sinks.hh"
#include "results/analyses/compare/records.hh"
#include "results/report/report.hh"

namespace longhaul::orchestrator {
namespace {

namespace json = boost::json;

struct VerifyOptions {
  std::string directory;
  std::size_t cells = 0;  // 0: all
  std::size_t times = 1;  // that each run is made again
  std::size_t labs = 0;
  lab::KernelChoice kernel;  // empty: that of the manifest
  bool as_json = false;
};

std::string shown(const VerifyOptions& options) {
  return results::shown_address(options.directory);
}

struct Verdict {
  std::size_t runs = 0, equal = 0;
  std::vector<std::pair<std::string, std::string>> different;  // run, where
};

Result<Verdict> verify(const VerifyOptions& options, Sink& sink) {
  auto store = results::Store::open(options.directory, results::OpenMode::read);
  if (!store) return tl::unexpected(store.error());
  const auto manifest = store->manifest();
  if (!manifest) return tl::unexpected(manifest.error());
  if (!manifest->virtual_clock)
    return refuse(
        "{}: it was measured by the host's clock, which repeats nothing; compare it with another by longhaul compare",
        shown(options));
  auto plan = plan_of(manifest->campaign_file, manifest->campaign_text);
  if (!plan) return tl::unexpected(plan.error());
  set_clock(plan->cells, kVirtualClock);
  const auto records = store->runs();
  if (!records) return tl::unexpected(records.error());

  RunOptions like;
  like.kernel = kernel_for(options.kernel, *manifest);
  like.shift = manifest->virtual_clock->shift;
  like.quantum = manifest->virtual_clock->quantum;
  const auto image = seal_for(like, *plan, sink);
  if (!image) return tl::unexpected(image.error());
  if (auto same = check_image(*manifest, *image); !same)
    return refuse("{}: cannot be made again here: {}", shown(options), same.error().message);

  std::map<std::string, std::size_t> cells;
  for (std::size_t i = 0; i < plan->cells.size(); ++i) cells.emplace(plan->cells[i].id, i);
  std::map<std::string, const RunRecord*> then;
  std::vector<PlannedRun> runs;
  for (const auto& record : *records) {
    const auto cell = cells.find(record.cell_id);
    if (cell == cells.end() || record.nodes.empty() || (options.cells > 0 && cell->second >= options.cells)) continue;
    then.emplace(record.run_id, &record);
    runs.push_back({.cell = cell->second, .repetition = record.repetition, .attempt = record.attempt});
  }
  if (runs.empty()) return refuse("{}: it holds no run that measured anything", shown(options));
  runs = repeated(runs, options.times);
  sink.on(StepEvent{fmt::format("making {} runs again{}", then.size(),
                                options.times > 1 ? fmt::format(", each {} times", options.times) : "")});

  Verdict verdict;
  auto made = make_unkept(*plan, *manifest, *image, options.labs, sink, runs,
                          [&](const PlannedRun&, const RunStory& story) -> Result<std::optional<PlannedRun>> {
                            const auto& again = story.attempts.back();
                            // A copy that made nothing says why.
                            const auto where = again.nodes.empty() && !again.message.empty()
                                                   ? again.message
                                                   : results::first_difference(*then.at(again.run_id), again);
                            ++verdict.runs;
                            if (where.empty())
                              ++verdict.equal;
                            else
                              verdict.different.emplace_back(again.run_id, where);
                            return std::nullopt;
                          });
  if (!made) return tl::unexpected(made.error());
  std::sort(verdict.different.begin(), verdict.different.end());
  return verdict;
}

int show(const VerifyOptions& options, const Verdict& verdict) {
  if (options.as_json) {
    json::array different;
    for (const auto& [run, where] : verdict.different)
      different.push_back(json::object{{"run", run}, {"where", where}});
    fmt::print("{}\n", json::serialize(
                           json::object{{"runs", verdict.runs}, {"equal", verdict.equal}, {"different", different}}));
  } else {
    for (const auto& [run, where] : verdict.different) fmt::print("{}: {}\n", printable(run), printable(where));
    fmt::print("{}: {} of {} runs are the same, bit by bit\n", printable(shown(options)), verdict.equal, verdict.runs);
  }
  return verdict.different.empty() ? 0 : static_cast<int>(ExitCode::incomplete);
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<VerifyOptions>();
  auto* command = app.add_subcommand(
      "verify", "make the runs of a directory again, from its manifest, and compare them bit by bit");
  command
      ->add_option("DIR", options->directory,
                   "what `longhaul run --lab --clock virtual --out` wrote, or postgresql://HOST/DATABASE#CAMPAIGN")
      ->required();
  command->add_option("--cells", options->cells, "only the first so many cells of the campaign; without it all");
  command->add_option("--times", options->times, "how often each run is made again, each time from a fresh copy")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--labs", options->labs, "copies side by side; without it one a processor");
  add_kernel_options(*command, options->kernel);
  command->add_flag("--json", options->as_json, "print one JSON document");
  command->footer(
      "Examples:\n  longhaul verify out/quick --cells 4\n"
      "  longhaul verify out/quick --cells 2 --times 50   (50 boots of each of their runs)\n"
      "Exits with 0 when all is the same, with 3 when something differs. QEMU, kernel and programs must be those of "
      "the manifest. Debian's kernels are taken by the release that it names; one of your own is given again.");
  command->callback([options, &exit_code] {
    watch_interrupts();
    const auto sink = options->as_json ? make_json_sink(stderr) : make_text_sink(stderr, ::isatty(STDERR_FILENO) != 0);
    const auto verdict = verify(*options, *sink);
    exit_code = verdict ? show(*options, *verdict) : report_error(verdict.error(), options->as_json);
  });
}

}  // namespace longhaul::orchestrator
