#include "results/simulation/records.hh"

#include <set>

#include "results/report/report.hh"
#include "results/simulation/document.hh"
#include "results/store/store.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr const char* kWorkload = "simulation";
constexpr const char* kCommand = "longhaul simulate";  // begins that of every simulation
constexpr const char* kNode = "local";

std::string word(const json::value& object, const char* name) {
  return std::string{object.at(name).as_string()};
}

double number(const json::value& object, const char* name) {
  return object.at(name).to_number<double>();
}

// Two files of one name are two traces, and none is the one that the workload makes up by itself.
std::string name_of(const json::value& trace, const ParameterSpec& spec, std::set<std::string>& taken) {
  const auto name = word(trace, "name");
  auto free = spec.fallback == Value{name} ? name + "-1" : name;
  for (int i = 2; !taken.insert(free).second; ++i) free = fmt::format("{}-{}", name, i);
  return free;
}

std::map<std::string, Metric> metrics_of(const json::value& trace, const json::value& row) {
  std::map<std::string, Metric> metrics;
  const auto requests = trace.at("requests").to_number<std::uint64_t>();
  const auto add = [&](const std::string& name, double value) {
    metrics[name] = {.value = value, .samples = requests, .distribution = {}, .raw = {}};
  };
  for (const auto* name : {"hit_ratio", "cost_saved", "registrations", "deregistrations", "batches"})
    add(name, number(row, name));
  add("cost", 1000 * number(row, "cost_us"));
  add("request_pages", number(trace, "request_pages"));
  for (const auto& [pages, share] : trace.at("shares").as_object())
    add("share_" + std::string{pages}, share.to_number<double>());
  return metrics;
}

RunRecord record_of(const Parameters& parameters, std::map<std::string, Metric> metrics, const Simulated& simulated,
                    const WorkloadSpec& spec) {
  const auto cell = make_cell(kWorkload, parameters, spec.parameters);
  RunRecord run;
  run.cell_id = cell_id(cell);
  run.run_id = run.cell_id + "/0/0";
  run.workload = kWorkload;
  run.parameters = cell.parameters;
  run.started = simulated.started;
  run.finished = simulated.finished;
  auto& node = run.nodes[kNode];
  node.workload = kWorkload;
  node.role = Role::local;
  node.parameters = parameters;
  node.metrics = std::move(metrics);
  node.window_start = simulated.started;
  node.window_stop = simulated.finished;
  return run;
}

Result<std::vector<RunRecord>> records_of(const json::value& document, const Simulated& simulated,
                                          const Vocabulary& vocabulary) {
  const auto* spec = vocabulary.workload(kWorkload);
  const auto* naming = spec == nullptr ? nullptr : find_parameter(spec->parameters, "trace");
  if (naming == nullptr) return refuse("there is no workload '{}' with a trace", kWorkload);
  std::vector<RunRecord> runs;
  std::set<std::string> names;
  std::set<std::string> seen;
  try {
    for (const auto& trace : document.at("traces").as_array()) {
      const auto name = name_of(trace, *naming, names);
      for (const auto& row : trace.at("rows").as_array()) {
        const Parameters parameters{{"trace", Value{name}},
                                    {"policy", Value{word(row, "policy")}},
                                    {"capacity", Value{row.at("capacity_bytes").to_number<std::int64_t>()}},
                                    {"cost", Value{word(row, "cost_profile")}}};
        auto run = record_of(parameters, metrics_of(trace, row), simulated, *spec);
        if (row.as_object().contains("hit_ratio_error")) {
          run.status = Status::limited;
          run.nodes[kNode].limits = {
              fmt::format("sampled: of the hit ratio {:.4f} to either side, in 95 %", number(row, "hit_ratio_error"))};
        }
        if (seen.insert(run.run_id).second) runs.push_back(std::move(run));  // a policy that was named twice
      }
    }
  } catch (const std::exception& error) {
    return refuse("not what this version of `longhaul simulate` writes: {}", error.what());
  }
  return runs;
}

Manifest manifest_of(const std::vector<RunRecord>& runs, const Simulated& simulated) {
  Manifest manifest;
  manifest.name = "simulate";
  manifest.description = "registration caches over traces, simulated";
  manifest.version = simulated.version;
  manifest.command = simulated.command;
  manifest.repetitions_min = manifest.repetitions_max = 1;  // it would give the same again
  manifest.started = simulated.started;
  manifest.finished = simulated.finished;
  manifest.wall = manifest.measuring = simulated.finished - simulated.started;
  for (const auto& run : runs)
    manifest.cells.push_back({.cell_id = run.cell_id, .workload = run.workload, .parameters = run.parameters});
  return manifest;
}

Result<void> fill(const fs::path& directory, const std::vector<RunRecord>& runs, const Simulated& simulated) {
  auto store = Store::open(directory, OpenMode::create);
  if (!store) return tl::unexpected(store.error());
  if (auto saved = store->save_manifest(manifest_of(runs, simulated)); !saved) return saved;
  for (const auto& run : runs)
    if (auto added = store->add_run(run); !added) return added;
  return {};
}

}  // namespace

Result<std::vector<RunRecord>> simulation_records(std::string_view document, const Simulated& simulated,
                                                  const Vocabulary& vocabulary) {
  const auto parsed = parse_simulation(document);
  if (!parsed) return tl::unexpected(parsed.error());
  return records_of(*parsed, simulated, vocabulary);
}

Result<void> check_simulation_directory(const fs::path& directory) {
  std::error_code ignored;
  if (!fs::exists(directory / "results.db", ignored)) return {};
  const auto store = Store::open(directory, OpenMode::read);
  if (!store) return tl::unexpected(store.error());
  const auto manifest = store->manifest();
  const auto runs = store->index();
  if (!runs) return tl::unexpected(runs.error());
  if (!manifest && runs->empty()) return {};  // killed before it had begun
  if (manifest && manifest->command.starts_with(kCommand)) return {};
  return refuse("{}: holds the results of a campaign{}, which a simulation would replace: choose another --out",
                directory.string(), manifest ? fmt::format(" ({})", manifest->name) : "");
}

Result<std::vector<fs::path>> write_simulation_records(const fs::path& directory, const Simulated& simulated,
                                                       const Vocabulary& vocabulary) {
  const auto document = read_simulation(directory);
  if (!document) return tl::unexpected(document.error());
  const auto runs = records_of(*document, simulated, vocabulary);
  if (!runs) return tl::unexpected(runs.error());
  if (auto free = check_simulation_directory(directory); !free) return tl::unexpected(free.error());
  std::error_code ignored;
  for (const auto* suffix : {"", "-wal", "-shm"}) fs::remove(directory / (std::string{"results.db"} + suffix), ignored);
  if (auto filled = fill(directory, *runs, simulated); !filled) return tl::unexpected(filled.error());
  auto written = write_csv(directory, vocabulary);
  if (!written) return tl::unexpected(written.error());
  auto files = std::move(written->files);
  files.insert(files.begin(), directory / "results.db");
  return files;
}

}  // namespace longhaul::results
