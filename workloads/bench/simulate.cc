#include "workloads/bench/simulate.hh"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/replace_file.hh"
#include "common/well_known.hh"
#include "model/units.hh"
#include "registration/simulate/document.hh"
#include "registration/simulate/generator.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

using namespace registration;
namespace fs = std::filesystem;

namespace {

constexpr const char* kExamples = R"(
Examples:
  longhaul simulate --trace access.tsv --policy all --capacity 1MiB,4MiB,16MiB --out out/cache
  longhaul simulate --trace disk.lis.zst --policy lru,mrrc:frequent=0.6,gdsf-cost --capacity 8MiB
  longhaul simulate --generate requests=10000000,objects=65536,skew=0.9,sizes=httpd --policy lru --capacity 64MiB
A cost file: {"name": "mine", "registering": {"per_page": 0.77, "per_call": 7.42}, "deregistering": {...}}, in us.
Exit codes: 0 good, 1 failed, 2 wrong options or a bad trace, 130 interrupted.
Policies:
)";

// The input of a simulation: a file or a recipe.
struct Input {
  std::string name;
  std::unique_ptr<Trace> trace;
};

void print_rows(const std::string& name, const std::vector<Row>& rows) {
  fmt::print("{}\n{:24} {:>12} {:>8} {:>7} {:>14} {:>8}\n", name, "policy", "capacity", "cost", "hits %", "cost us",
             "saved %");
  for (const auto& row : rows)
    fmt::print(
        "{:24} {:>12} {:>8} {:7.2f} {:14.1f} {:8.2f}\n", row.policy + (row.bound ? " (bound)" : ""),
        row.capacity_bytes == 0 ? "-" : format_quantity(Kind::size, static_cast<std::int64_t>(row.capacity_bytes)),
        row.cost_profile, 100 * row.hit_ratio, row.cost_us, 100 * row.cost_saved);
}

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
  unsigned threads = 0;
  std::string out;
  bool json = false;

  Result<std::vector<CostProfile>> profiles() const;
  Result<std::vector<Capacity>> sizes() const;
  Result<Input> open(std::size_t index) const;
  Result<SimulatedTrace> simulate(std::size_t index, const std::vector<CostProfile>& profiles, SweepOptions& sweeping,
                                  int stop) const;
  Result<void> write(const std::vector<SimulatedTrace>& done, const SweepOptions& sweeping,
                     const std::vector<CostProfile>& profiles) const;
  Result<void> all(int stop) const;
};

SimulateCommand::SimulateCommand() : options_(std::make_unique<Options>()) {}
SimulateCommand::~SimulateCommand() = default;

void SimulateCommand::add_to(CLI::App& parent) {
  auto& o = *options_;
  o.app = parent.add_subcommand("simulate", "registration caches over a trace: hits, and what registering costs");
  o.app->footer(kExamples + list_strategies());
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
  o.app->add_option("--capacity", o.capacities, "how much may be registered")
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
  o.app->add_option("--threads", o.threads, "0: one a processor")->type_name("N");
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
    std::ifstream stream{measured ? measured_costs() : fs::path{file}};
    if (!stream && measured)
      return refuse(
          "--cost measured: {} is not there; run campaigns/registration-2006.yaml, then `longhaul costs DIR --profile "
          "NAME` keeps what it measured",
          measured_costs().string());
    if (!stream) return refuse("--cost {}: no such profile, and no file of that name can be read", file);
    std::ostringstream text;
    text << stream.rdbuf();
    auto profile = parse_cost_profile(text.str());
    if (!profile) return refuse("--cost {}: {}", file, profile.error().message);
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

Result<std::vector<Capacity>> SimulateCommand::Options::sizes() const {
  std::vector<Capacity> sizes;
  for (const auto& text : capacities) {
    const auto bytes = parse_quantity(Kind::size, text);
    if (!bytes) return refuse("--capacity {}", bytes.error().message);
    Capacity capacity{.pages = static_cast<std::uint64_t>(*bytes) / kPageSize};
    if (regions > 0) capacity.regions = regions;
    if (capacity.pages == 0) return refuse("--capacity {}: less than a page of {} bytes", text, kPageSize);
    sizes.push_back(capacity);
  }
  return sizes;
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
                                                          SweepOptions& sweeping, int stop) const {
  auto input = open(index);
  if (!input) return tl::unexpected(input.error());
  const bool watched = ::isatty(STDERR_FILENO) == 1;
  auto said = -1;
  sweeping.progress = [&](double fraction) {
    const auto percent = static_cast<int>(100 * fraction);
    if (watched && percent != said) fmt::print(stderr, "\r{} {:3} %", input->name, percent);
    said = percent;
    try {
      check_stop(stop);
    } catch (const Interrupted&) {
      return false;
    }
    return true;
  };
  auto swept = sweep(*input->trace, sweeping);
  if (watched) fmt::print(stderr, "\r{:{}}\r", "", input->name.size() + 8);
  if (!swept) return tl::unexpected(swept.error());
  if (swept->requests == 0) return refuse("{}: there is no request in it", input->name);
  SimulatedTrace done{.name = input->name,
                      .requests = swept->requests,
                      .pages = swept->pages,
                      .skipped = swept->skipped,
                      .lengths = swept->lengths,
                      .rows = rows_of(*swept, sweeping, profiles)};
  if (sweeping.offline) {
    auto bounds = bound_rows(*swept, sweeping.capacities, profiles);
    done.bounded = !bounds.empty();
    done.rows.insert(done.rows.end(), bounds.begin(), bounds.end());
  }
  return done;
}

Result<void> SimulateCommand::Options::write(const std::vector<SimulatedTrace>& done, const SweepOptions& sweeping,
                                             const std::vector<CostProfile>& profiles) const {
  auto csv = csv_header();
  for (const auto& trace : done) csv += csv_of(trace.name, trace.rows);
  if (auto kept = replace_file(fs::path{out} / "simulate.csv", csv); !kept) return kept;
  return replace_file(fs::path{out} / "simulate.json", document_of(done, sweeping.strategies, profiles) + "\n");
}

Result<void> SimulateCommand::Options::all(int stop) const {
  if (traces.empty() && recipes.empty()) return refuse("which trace? give --trace FILE or --generate RECIPE");
  const auto costs_of = profiles();
  if (!costs_of) return tl::unexpected(costs_of.error());
  const auto room = sizes();
  if (!room) return tl::unexpected(room.error());
  auto strategies = parse_strategies(policies, *costs_of);
  if (!strategies) return tl::unexpected(strategies.error());
  SweepOptions sweeping{
      .strategies = std::move(*strategies), .capacities = *room, .offline = policies == "all", .threads = threads};
  if (!out.empty()) {
    std::error_code error;
    fs::create_directories(out, error);
    if (error) return refuse("--out {}: {}", out, error.message());
  }
  std::vector<SimulatedTrace> done;
  for (std::size_t i = 0; i < traces.size() + recipes.size(); ++i) {
    auto one = simulate(i, *costs_of, sweeping, stop);
    if (!one) return tl::unexpected(one.error());
    if (!json) print_rows(one->name, one->rows);
    if (!json && one->skipped > 0) fmt::print("{} bad lines or records were skipped\n", one->skipped);
    if (!json && sweeping.offline && !one->bounded) fmt::print("no bounds: requests of this trace overlap\n");
    std::fflush(stdout);
    done.push_back(std::move(*one));
    if (out.empty()) continue;
    if (auto written = write(done, sweeping, *costs_of); !written) return written;
  }
  if (json) fmt::print("{}\n", document_of(done, sweeping.strategies, *costs_of));
  return {};
}

int SimulateCommand::run(int stop) {
  const auto outcome = options_->all(stop);
  if (outcome) return 0;
  fmt::print(stderr, "longhaul-bench: {}\n", outcome.error().message);
  return static_cast<int>(outcome.error().exit_code);
}

}  // namespace longhaul::workloads
