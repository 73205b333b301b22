#include "workloads/bench/simulate.hh"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "common/replace_file.hh"
#include "common/share.hh"
#include "common/well_known.hh"
#include "model/units.hh"
#include "registration/simulate/division.hh"
#include "registration/simulate/generator.hh"
#include "registration/simulate/sample.hh"
#include "workloads/bench/capacities.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

using namespace registration;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSimulateExamples = R"(
Examples:
  longhaul simulate --trace access.tsv --policy all --capacity 1MiB,4MiB,16MiB --out out/cache
  longhaul simulate --trace disk.lis.zst --policy lru,mrrc:frequent=0.6,gdsf-cost --capacity 8MiB
  longhaul simulate --generate requests=10000000,objects=65536,skew=0.9,sizes=httpd --policy lru --capacity 64MiB
  longhaul simulate --trace disk.oracleGeneral.zst --policy lru,mrrc --capacity 64MiB..64GiB --sample 1%   (whole curves)
A cost file: {"name": "mine", "registering": {"per_page": 0.77, "per_call": 7.42}, "deregistering": {...}}, in us.
Exit codes: 0 good, 1 failed, 2 wrong options or a bad trace, 130 interrupted.
Policies:
)";

// The input of a simulation: a file or a recipe.
struct Input {
  std::string name;
  std::unique_ptr<Trace> trace;
};

// None: it cannot be read.
std::optional<std::string> content_of(const fs::path& path) {
  std::ifstream stream{path, std::ios::binary};
  if (!stream) return std::nullopt;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// How far off a sampled row may be; nothing behind an exact one.
std::string sampled(const Row& row) {
  if (!row.hit_ratio_error) return {};
  return fmt::format("  hits +-{:.2f}, saved +-{:.2f}", 100 * *row.hit_ratio_error, 100 * *row.cost_saved_error);
}

void print_rows(const std::string& name, const std::vector<Row>& rows) {
  fmt::print("{}\n{:24} {:>12} {:>8} {:>7} {:>14} {:>8}\n", name, "policy", "capacity", "cost", "hits %", "cost us",
             "saved %");
  for (const auto& row : rows)
    fmt::print(
        "{:24} {:>12} {:>8} {:7.2f} {:14.1f} {:8.2f}{}\n", row.policy + (row.bound ? " (bound)" : ""),
        row.capacity_bytes == 0 ? "-" : format_quantity(Kind::size, static_cast<std::int64_t>(row.capacity_bytes)),
        row.cost_profile, 100 * row.hit_ratio, row.cost_us, 100 * row.cost_saved, sampled(row));
}

// All that is asked for, but the traces.
struct Work {
  std::vector<CostProfile> profiles;
  SweepOptions sweeping;
};

// Of all traces: a line on a terminal. Its calls may come from any thread.
class Progress {
 public:
  Progress(std::size_t inputs, int stop) : fractions_(inputs, 0.0), stop_(stop) {}
  /// False: the user, or a trace that failed, ends it all.
  bool on(std::size_t index, double fraction) {
    const std::scoped_lock alone{mutex_};
    fractions_[index] = fraction;
    double sum = 0;
    for (const auto one : fractions_) sum += one;
    const auto percent = static_cast<int>(100 * sum / static_cast<double>(fractions_.size()));
    if (watched_ && percent != said_) fmt::print(stderr, "\r{:3} %", percent);
    said_ = percent;
    try {
      check_stop(stop_);
    } catch (const Interrupted&) {
      over_ = true;
    }
    return !over_;
  }
  void stop() {
    const std::scoped_lock alone{mutex_};
    over_ = true;
  }
  void clear() const {
    if (watched_) fmt::print(stderr, "\r     \r");
  }

 private:
  std::mutex mutex_;
  std::vector<double> fractions_;
  int stop_;
  bool watched_ = ::isatty(STDERR_FILENO) == 1;
  int said_ = -1;
  bool over_ = false;
};

}  // namespace

struct SimulateCommand::Options {
  CLI::App* app = nullptr;
  std::vector<std::string> traces;
  std::vector<std::string> recipes;
  std::string format;
  std::string policies = "all";
  std::vector<std::string> capacities{"1MiB", "2MiB", "4MiB", "8MiB", "16MiB"};
  std::uint64_t regions = 0;
  std::vector<std::string> costs;
  std::uint64_t skip_bad = 0;
  std::uint64_t largest = ReadOptions{}.largest;
  std::string sample;
  unsigned threads = 0;
  std::string share;
  std::vector<std::string> shares;
  bool only_count = false;
  std::string out;
  bool json = false;

  Result<std::vector<CostProfile>> profiles() const;
  Result<std::vector<Capacity>> sizes() const;
  Result<double> sampling() const;
  Result<Work> work() const;
  Result<Input> open(std::size_t index) const;
  std::size_t inputs() const { return traces.size() + recipes.size(); }
  Result<SimulatedTrace> simulate(std::size_t index, const std::vector<CostProfile>& profiles,
                                  const SweepOptions& sweeping) const;
  void print(const SimulatedTrace& one, bool offline) const;
  Result<void> write(const std::vector<SimulatedTrace>& done, const Work& work) const;
  Result<void> simulate_parts(const Work& work, Share share, int stop) const;
  Result<void> join(const Work& work) const;
  Result<void> all(int stop) const;
};

SimulateCommand::SimulateCommand() : options_(std::make_unique<Options>()) {}
SimulateCommand::~SimulateCommand() = default;

void SimulateCommand::add_to(CLI::App& parent) {
  auto& o = *options_;
  o.app = parent.add_subcommand("simulate", "registration caches over a trace: hits, and what registering costs");
  o.app->footer(kSimulateExamples + list_strategies());
  o.app->add_option("--trace", o.traces, "a trace, plain or zstd; may be given several times")->type_name("FILE");
  o.app
      ->add_option("--generate", o.recipes,
                   "a made-up one: requests=N,objects=N,skew=X,sizes=httpd|cello92|uniform|page,seed=N")
      ->type_name("RECIPE");
  o.app->add_option("--format", o.format, "of the traces; else their names say it")
      ->type_name("nasa|clf|arc|vscsi|oracle|csv");
  o.app->add_option("--policy", o.policies, "all, or names with commas between them")
      ->type_name("LIST")
      ->capture_default_str();
  o.app
      ->add_option("--capacity", o.capacities,
                   "how much may be registered; 1MiB..64MiB doubles from the one to the other, 1MiB..64MiB/4 in four "
                   "steps each")
      ->delimiter(',')
      ->type_name("SIZE,...")
      ->capture_default_str();
  o.app->add_option("--regions", o.regions, "and in how many regions; 0: any number")->type_name("N");
  o.app
      ->add_option("--cost", o.costs,
                   "a cost profile beside wu2003 and mietke, which are always there; measured: what `longhaul costs "
                   "--profile` kept")
      ->type_name("FILE|measured");
  o.app->add_option("--skip-bad", o.skip_bad, "bad lines or records that are dropped before a trace is refused")
      ->type_name("N")
      ->capture_default_str();
  o.app->add_option("--largest", o.largest, "pages of one request for a file or object; larger ones are split")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
      ->capture_default_str();
  o.app
      ->add_option("--sample", o.sample,
                   "simulate up to eight samples that have this share of memory each, in caches that are as much "
                   "smaller; rows say how far off they may be")
      ->type_name("SHARE");
  o.app->add_option("--threads", o.threads, "0: one a processor; several traces are simulated side by side")
      ->type_name("N");
  o.app
      ->add_option("--share", o.share,
                   "simulate a share of it alone, such as 2/8: of all traces at all capacities the second eighth")
      ->type_name("K/N");
  o.app->add_option("--join", o.shares, "join what all shares of it, in their order, left in these folders")
      ->type_name("DIR");
  o.app->add_flag("--parts", o.only_count,
                  "check the options, say into how many shares it can be divided, simulate nothing");
  o.app->add_option("--out", o.out, "write simulate.csv and simulate.json there")->type_name("DIR");
  o.app->add_flag("--json", o.json, "print one JSON document");
}

bool SimulateCommand::chosen() const {
  return options_->app->parsed();
}

Result<std::vector<CostProfile>> SimulateCommand::Options::profiles() const {
  auto profiles = cost_profiles();
  for (const auto& file : costs) {
    const auto known = [&](const CostProfile& one) { return one.name == file; };
    if (std::any_of(profiles.begin(), profiles.end(), known)) continue;
    const bool measured = file == "measured";
    const auto text = content_of(measured ? measured_costs() : fs::path{file});
    if (!text && measured)
      return refuse(
          "--cost measured: {} is not there; run campaigns/registration-2006.yaml, then `longhaul costs DIR --profile "
          "NAME` keeps what it measured",
          measured_costs().string());
    if (!text) return refuse("--cost {}: no such profile, and no file of that name can be read", file);
    auto profile = parse_cost_profile(*text);
    if (!profile) return refuse("--cost {}: {}", file, profile.error().message);
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

Result<std::vector<Capacity>> SimulateCommand::Options::sizes() const {
  std::vector<Capacity> sizes;
  for (const auto& text : capacities) {
    auto some = parse_capacities(text);
    if (!some) return refuse("--capacity {}", some.error().message);
    for (auto& capacity : *some) {
      if (regions > 0) capacity.regions = regions;
      sizes.push_back(capacity);
    }
  }
  return sizes;
}

Result<double> SimulateCommand::Options::sampling() const {
  if (sample.empty()) return 0.0;
  const auto parts = parse_quantity(Kind::fraction, sample);
  if (!parts) return refuse("--sample: {}", parts.error().message);
  return static_cast<double>(*parts) / 1e6;
}

Result<Input> SimulateCommand::Options::open(std::size_t index) const {
  if (index < traces.size()) {
    const auto& file = traces[index];
    auto chosen_format = format.empty() ? guess_format(file) : parse_format(format);
    if (!chosen_format) return tl::unexpected(chosen_format.error());
    auto trace = open_trace(file, *chosen_format, {.skip_bad = skip_bad, .largest = largest});
    if (!trace) return tl::unexpected(trace.error());
    return Input{fs::path{file}.filename().string(), std::move(*trace)};
  }
  const auto& recipe = recipes[index - traces.size()];
  const auto options = parse_generator(recipe);
  if (!options) return tl::unexpected(options.error());
  return Input{recipe.empty() ? "generated" : recipe, generate(*options)};
}

Result<SimulatedTrace> SimulateCommand::Options::simulate(std::size_t index, const std::vector<CostProfile>& profiles,
                                                          const SweepOptions& sweeping) const {
  auto input = open(index);
  if (!input) return tl::unexpected(input.error());
  auto swept = sweep(*input->trace, sweeping);
  if (!swept) return tl::unexpected(swept.error());
  if (swept->requests == 0) return refuse("{}: there is no request in it", input->name);
  SimulatedTrace done{.name = input->name,
                      .requests = swept->requests,
                      .pages = swept->pages,
                      .skipped = swept->skipped,
                      .lengths = swept->lengths.summary(),
                      .sample = sweeping.sample,
                      .rows = rows_of(*swept, sweeping, profiles)};
  if (sweeping.offline) {
    auto bounds = bound_rows(*swept, sweeping.capacities, profiles);
    done.bounded = !bounds.empty();
    done.rows.insert(done.rows.end(), bounds.begin(), bounds.end());
  }
  return done;
}

Result<void> SimulateCommand::Options::write(const std::vector<SimulatedTrace>& done, const Work& work) const {
  if (out.empty()) return {};
  auto csv = csv_header();
  for (const auto& trace : done) csv += csv_of(trace.name, trace.rows);
  if (auto kept = replace_file(fs::path{out} / "simulate.csv", csv); !kept) return kept;
  return replace_file(fs::path{out} / "simulate.json",
                      document_of(done, work.sweeping.strategies, work.profiles) + "\n");
}

void SimulateCommand::Options::print(const SimulatedTrace& one, bool offline) const {
  if (json) return;
  print_rows(one.name, one.rows);
  if (one.skipped > 0) fmt::print("{} bad lines or records were skipped\n", one.skipped);
  if (offline && !one.bounded) fmt::print("no bounds: requests of this trace overlap\n");
  std::fflush(stdout);
}

Result<Work> SimulateCommand::Options::work() const {
  if (traces.empty() && recipes.empty()) return refuse("which trace? give --trace FILE or --generate RECIPE");
  auto costs_of = profiles();
  if (!costs_of) return tl::unexpected(costs_of.error());
  const auto room = sizes();
  if (!room) return tl::unexpected(room.error());
  auto strategies = parse_strategies(policies, *costs_of);
  if (!strategies) return tl::unexpected(strategies.error());
  const auto part = sampling();
  if (!part) return tl::unexpected(part.error());
  if (!sample.empty())
    if (auto good = check_sampling(*part, *room); !good) return tl::unexpected(good.error());
  // Bounds keep a trace in memory, of a sample they are none.
  return Work{.profiles = std::move(*costs_of),
              .sweeping = {.strategies = std::move(*strategies),
                           .capacities = *room,
                           .sample = *part,
                           .offline = policies == "all" && sample.empty()}};
}

// A whole is written trace by trace, a share when all of it is there.
Result<void> SimulateCommand::Options::simulate_parts(const Work& work, Share its, int stop) const {
  const auto parts = parts_of(inputs(), work.sweeping.capacities.size(), its);
  // Traces side by side, each on its part of the processors.
  const std::size_t processors = threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  const auto side_by_side = std::min(parts.size(), processors);
  Progress progress{parts.size(), stop};
  std::vector<std::future<Result<SimulatedTrace>>> going(parts.size());
  const auto begin = [&](std::size_t index) {
    if (index >= parts.size()) return;
    auto sweeping = work.sweeping;
    const auto from = sweeping.capacities.begin() + static_cast<std::ptrdiff_t>(parts[index].first);
    sweeping.capacities = {from, from + static_cast<std::ptrdiff_t>(parts[index].count)};
    sweeping.threads = static_cast<unsigned>(processors / std::max<std::size_t>(side_by_side, 1));
    sweeping.progress = [&progress, index](double fraction) { return progress.on(index, fraction); };
    going[index] = std::async(std::launch::async, [this, &work, trace = parts[index].trace, sweeping] {
      return simulate(trace, work.profiles, sweeping);
    });
  };
  for (std::size_t i = 0; i < side_by_side; ++i) begin(i);
  std::vector<SimulatedTrace> done;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto one = going[i].get();
    if (!one) progress.stop();
    if (!one) return tl::unexpected(one.error());
    begin(i + side_by_side);
    progress.clear();
    print(*one, work.sweeping.offline);
    done.push_back(std::move(*one));
    if (its.of > 1) continue;
    if (auto written = write(done, work); !written) return written;
  }
  if (json) fmt::print("{}\n", document_of(done, work.sweeping.strategies, work.profiles));
  return its.of > 1 ? write(done, work) : Result<void>{};
}

Result<void> SimulateCommand::Options::join(const Work& work) const {
  std::vector<std::vector<SimulatedTrace>> found;
  for (const auto& folder : shares) {
    const auto path = fs::path{folder} / "simulate.json";
    const auto text = content_of(path);
    if (!text) return refuse("--join {}: cannot be read", path.string());
    auto its = traces_of(*text);
    if (!its) return refuse("--join {}: {}", path.string(), its.error().message);
    found.push_back(std::move(*its));
  }
  const auto whole = join_shares(found, inputs(), work.sweeping, work.profiles);
  if (!whole) return refuse("--join: {}", whole.error().message);
  for (const auto& one : *whole) print(one, work.sweeping.offline);
  if (json) fmt::print("{}\n", document_of(*whole, work.sweeping.strategies, work.profiles));
  return write(*whole, work);
}

Result<void> SimulateCommand::Options::all(int stop) const {
  const auto asked = work();
  if (!asked) return tl::unexpected(asked.error());
  if (only_count) {
    for (std::size_t i = 0; i < inputs(); ++i)
      if (const auto input = open(i); !input) return tl::unexpected(input.error());
    fmt::print("{}\n", inputs() * asked->sweeping.capacities.size());
    return {};
  }
  if (!out.empty()) {
    std::error_code error;
    fs::create_directories(out, error);
    if (error) return refuse("--out {}: {}", out, error.message());
  }
  if (!shares.empty()) return join(*asked);
  const auto its = share.empty() ? Share{} : parse_share(share);
  if (!its) return refuse("--share {}", its.error().message);
  return simulate_parts(*asked, *its, stop);
}

int SimulateCommand::run(int stop) {
  const auto outcome = options_->all(stop);
  if (outcome) return 0;
  fmt::print(stderr, "longhaul-bench: {}\n", outcome.error().message);
  return static_cast<int>(outcome.error().exit_code);
}

}  // namespace longhaul::workloads
