// longhaul simulate: longhaul-bench simulates, page and records are made here.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "common/child.hh"
#include "common/version.hh"
#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/sealed.hh"
#include "orchestrator/cli/slurm_array.hh"
#include "orchestrator/events/sinks.hh"
#include "results/simulation/page.hh"
#include "results/simulation/records.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;

std::int64_t now() {
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// What is longhaul's own of the options; all others are longhaul-bench's, --help and --out included.
struct SimulateOptions {
  SlurmOptions slurm;
  std::size_t shares = 0;  ///< 0: as many as the partition has processors
  bool resume = false;
  std::string out;                 ///< empty: nothing is written
  std::vector<std::string> words;  ///< the bench's, without --out

  void add_to(CLI::App& app) {
    app.allow_extras();
    app.set_help_flag();
    app.add_option("--out", out)->group("");
    const auto* group = "On a Slurm cluster (docs/slurm.md)";
    app.add_flag("--slurm", slurm.asked,
                 "simulate in shares, the tasks of a job array; what is lost is submitted again")
        ->group(group);
    app.add_option("--shards", shares, "so many tasks; without it as many as the partition has processors")
        ->check(CLI::Range(1, 100000))
        ->group(group);
    add_slurm_options(app, slurm, group);
    app.add_flag("--resume", resume, "go on with an array that was begun in --out")->group(group);
  }
};

std::string bench() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "longhaul-bench";
}

// As it would be typed again.
std::string command_of(const SimulateOptions& options) {
  std::string text = "longhaul simulate";
  for (const auto& word : options.words) text += " " + shell_word(word);
  return text + " --out " + shell_word(options.out);
}

// Runs longhaul-bench to its end and returns its exit code.
Result<int> run_bench(std::vector<std::string> words, const std::string& out) {
  words.insert(words.begin(), {bench(), "simulate"});
  if (!out.empty()) words.insert(words.end(), {"--out", out});
  Child bench{{.arguments = std::move(words), .descriptors = {}, .environment = {}, .working_directory = {}}};
  while (!bench.wait(std::chrono::hours{1})) {
  }
  const auto exit = *bench.poll();
  if (!exit.code) return fail("longhaul-bench: {}", exit.text());
  return *exit.code;
}

// Writes the bench's findings as a page and as records.
int keep(const std::string& out, const results::Simulated& simulated) {
  const auto page = results::write_simulation_page(out);
  if (!page) return report_error(page.error());
  const auto records = results::write_simulation_records(out, simulated, results_vocabulary());
  if (!records) return report_error(records.error());
  fmt::print("{}\n{}\n", (fs::path{out} / "simulate.csv").string(), page->string());
  for (const auto& file : *records) fmt::print("{}\n", file.string());
  return 0;
}

// Into how many shares it can be divided. The bench's own words for what is wrong are on the terminal then.
Result<std::size_t> parts_of(const SimulateOptions& options) {
  std::vector<std::string> words{bench(), "simulate", "--parts"};
  words.insert(words.end(), options.words.begin(), options.words.end());
  const auto said = run_command(words);
  if (!said.exit.ok())
    return tl::unexpected(Error{"nothing was submitted", static_cast<ExitCode>(said.exit.code.value_or(1))});
  return std::stoul(said.out);
}

// Each task has as many threads as processors.
std::string script_of(const SimulateOptions& options, const fs::path& folder, std::size_t shares) {
  auto text = fmt::format("#!/bin/sh\nk=$SLURM_ARRAY_TASK_ID\nexec {} simulate", shell_word(bench()));
  bool threads = false;
  for (const auto& word : options.words) {
    threads = threads || word.starts_with("--threads");
    if (word != "--json") text += " " + shell_word(word);
  }
  if (!threads) text += " --threads \"${SLURM_CPUS_PER_TASK:-1}\"";
  return text + fmt::format(" --share \"$k/{}\" --out {}/\"$k\"\n", shares, shell_word((folder / "shares").string()));
}

// Simulates in shares, and joins them at options.out.
Result<int> simulate_on_slurm(const SimulateOptions& options) {
  if (options.out.empty()) return refuse("--slurm: --out DIR is missing: a folder that all nodes share");
  const auto parts = parts_of(options);
  if (!parts) return tl::unexpected(parts.error());
  auto shares = std::min(options.shares, *parts);
  if (shares == 0) {
    const auto some = default_tasks(options.slurm, *parts);
    if (!some) return tl::unexpected(some.error());
    shares = *some;
  }
  watch_interrupts();
  const auto sink = make_text_sink(stderr, ::isatty(STDERR_FILENO) != 0);
  const auto folder = fs::absolute(options.out) / "slurm";
  JobArray array{{.name = "longhaul-simulate",
                  .folder = folder,
                  .script = script_of(options, folder, shares),
                  .tasks = shares,
                  .slurm = options.slurm},
                 *sink};
  if (auto prepared = array.prepare(options.resume); !prepared) return tl::unexpected(prepared.error());
  const auto found = [&](std::size_t number) { return folder / "shares" / std::to_string(number); };
  const auto look = [&](std::size_t number, slurm::Share& share) -> Result<void> {
    std::error_code ignored;
    share.complete = fs::exists(found(number) / "simulate.json", ignored);
    share.records = share.complete ? 1 : 0;
    return {};
  };
  std::optional<std::int64_t> told;
  const auto looked = [&](const std::vector<slurm::Share>& all) -> Result<void> {
    const auto done = std::count_if(all.begin(), all.end(), [](const auto& share) { return share.complete; });
    if (told != done) sink->on(StepEvent{fmt::format("{} of {} shares are simulated", done, shares)});
    told = done;
    return {};
  };
  if (auto followed = array.follow(look, looked); !followed) return tl::unexpected(followed.error());
  auto words = options.words;
  for (std::size_t number = 1; number <= shares; ++number)
    words.insert(words.end(), {"--join", found(number).string()});
  auto code = run_bench(std::move(words), options.out);
  std::error_code ignored;
  if (code && *code == 0) fs::remove_all(folder, ignored);
  return code;
}

int simulate(const std::vector<std::string>& words) {
  SimulateOptions options;
  CLI::App own{""};
  options.add_to(own);
  try {
    own.parse(std::vector<std::string>{words.rbegin(), words.rend()});
  } catch (const CLI::ParseError& error) {
    return report_error({.message = error.what()});
  }
  options.words = own.remaining();
  const auto& slurm = options.slurm;
  if (!slurm.asked && (options.resume || options.shares > 0 || !slurm.partition.empty() || !slurm.sbatch.empty()))
    return report_error({.message = "--shards, --partition, --sbatch and --resume are for --slurm"});
  // Before hours of simulating, not behind them.
  if (auto free = options.out.empty() ? Result<void>{} : results::check_simulation_directory(options.out); !free)
    return report_error(free.error());
  results::Simulated simulated{.command = command_of(options), .version = version_text(), .started = now()};
  // A terminal's Ctrl-C reaches the bench as well: it ends, and says how.
  if (!slurm.asked) std::signal(SIGINT, SIG_IGN);
  const auto code = slurm.asked ? simulate_on_slurm(options) : run_bench(options.words, options.out);
  if (!code) return report_error(code.error());
  const auto asks_for_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::any_of(options.words.begin(), options.words.end(), asks_for_help)) fmt::print("{}\n", own.help());
  if (*code != 0 || options.out.empty()) return *code;
  simulated.finished = now();
  return keep(options.out, simulated);
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("simulate", "registration caches over a trace: hits, and what registering costs");
  // Nearly every option is longhaul-bench's, --help included.
  command->prefix_command();
  command->set_help_flag();
  command->callback([command, &exit_code] { exit_code = simulate(command->remaining()); });
}

}  // namespace longhaul::orchestrator
