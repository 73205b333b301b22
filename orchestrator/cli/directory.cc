#include "orchestrator/cli/directory.hh"

#include <filesystem>
#include <map>

#include "orchestrator/cli/commands.hh"
#include "results/store/postgres/backend.hh"
#include "results/summary/summary.hh"

namespace longhaul::orchestrator {
namespace {

// A testbed without the ports where its agents listen today.
Testbed essence(Testbed testbed) {
  testbed.ca.clear();
  testbed.cert.clear();
  testbed.key.clear();
  for (auto& node : testbed.nodes) {
    node.host.clear();
    node.port = 0;
  }
  std::sort(testbed.nodes.begin(), testbed.nodes.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return testbed;
}

// Cell id -> its workload's headline metric.
std::map<std::string, std::string> headlines(const Manifest& manifest, const Campaign& campaign) {
  std::map<std::string, std::string> names;
  for (const auto& cell : manifest.cells)
    for (const auto& experiment : campaign.experiments)
      if (experiment.workload.name == cell.workload && !experiment.workload.metrics.empty())
        names[cell.cell_id] = experiment.workload.metrics.front().name;
  return names;
}

// Another session may still make it.
bool is_open(Status status) {
  return status == Status::refused || status == Status::failed;
}

}  // namespace

bool is_of(const Testbed& testbed, const std::vector<Testbed>& some) {
  const auto asked = to_json(essence(testbed));
  return std::any_of(some.begin(), some.end(), [&](const Testbed& one) { return to_json(essence(one)) == asked; });
}

Result<void> check_resume(const Manifest& earlier, const std::string& campaign_text, std::optional<std::uint64_t> seed,
                          const std::vector<Testbed>& testbeds) {
  if (earlier.campaign_text != campaign_text)
    return refuse(
        "the campaign is not the one that was begun: its file has changed since; take the old text (it is in "
        "manifest.json) or "
        "another --out");
  if (seed && *seed != earlier.seed)
    return refuse("the campaign was begun with --seed {}, now it is {}; leave --seed out", earlier.seed, *seed);
  for (const auto& testbed : testbeds) {
    if (earlier.testbed.topology != testbed.topology)
      return refuse("the campaign was begun on topology {}, this testbed is {}", earlier.testbed.topology,
                    testbed.topology);
    if (!is_of(testbed, earlier.testbeds()))
      return refuse(
          "the campaign was begun on another testbed: nodes or attachments differ; results of both cannot be mixed, "
          "take another --out");
  }
  return {};
}

std::string builds_of(const std::string& earlier, const std::string& now) {
  const auto joined = ", then " + now;
  if (earlier.empty()) return now;
  return earlier == now || earlier.ends_with(joined) ? earlier : earlier + joined;
}

void warn_of_builds(const RunDirectory& directory, const std::string& now, Sink& sink) {
  if (!directory.manifest) return;
  const auto builds = builds_of(directory.manifest->version, now);
  if (builds != now)
    sink.on(WarningEvent{
        fmt::format("{}: it was begun with another build of longhaul: {}; where that could change a figure, go on with "
                    "the build of then, or take another --out",
                    directory.store.directory().string(), builds)});
}

Result<results::PostgresAddress> address_of(const Destination& destination) {
  auto address = results::parse_postgres(destination.store);
  if (!address || !address->campaign.empty()) return address;
  const auto directory = std::filesystem::path{destination.out}.lexically_normal();
  const auto name = directory.has_filename() ? directory.filename() : directory.parent_path().filename();
  return results::parse_postgres(address->url + '#' + name.string());
}

Result<void> check_new(const Destination& destination) {
  if (results::holds_store(destination.out))
    return refuse("{} holds a campaign already; go on with it by --resume, or take another --out", destination.out);
  if (destination.store.empty()) return {};
  const auto address = address_of(destination);
  if (!address) return tl::unexpected(address.error());
  return results::check_free(*address);
}

Result<results::Store> open_store(const Destination& destination, results::OpenMode mode) {
  if (destination.store.empty()) return results::Store::open(destination.out, mode);
  const auto address = address_of(destination);
  if (!address) return tl::unexpected(address.error());
  return results::Store::open_at(destination.out, *address, mode);
}

Result<RunDirectory> open_directory(const Destination& destination, bool resume, const Campaign& campaign,
                                    std::optional<std::uint64_t> seed) {
  auto store = open_store(destination, resume ? results::OpenMode::resume : results::OpenMode::create);
  if (!store) return tl::unexpected(store.error());
  RunDirectory directory{.store = std::move(*store), .manifest = {}, .runs = {}};
  if (!resume) return directory;
  auto index = directory.store.index();
  if (!index) return tl::unexpected(index.error());
  auto manifest = directory.store.manifest();
  if (!manifest) {
    if (index->empty()) return directory;  // killed before it had begun
    return tl::unexpected(manifest.error());
  }
  if (auto same = check_resume(*manifest, campaign.file.text, seed, {}); !same)
    return refuse("{}: {}", destination.out, same.error().message);
  directory.manifest = std::move(*manifest);
  const auto names = headlines(*directory.manifest, campaign);
  for (const auto& run : *index) {
    const auto name = names.find(run.cell_id);
    const auto value = name == names.end() ? run.metrics.end() : run.metrics.find(name->second);
    directory.runs.push_back({.cell_id = run.cell_id,
                              .repetition = run.repetition,
                              .attempt = run.attempt,
                              .status = run.status,
                              .value = value == run.metrics.end() ? std::nullopt : std::optional{value->second},
                              .digest = run.digest});
  }
  return directory;
}

std::vector<std::pair<Status, std::int64_t>> count_cells(const results::Summary& summary, Counted counted) {
  std::map<Status, std::int64_t> counts;
  for (const auto& cell : summary.cells)
    if (counted == Counted::all || (counted == Counted::tried ? !cell.runs.empty() : !is_open(cell.status)))
      ++counts[cell.status];
  return {counts.begin(), counts.end()};
}

int exit_code_of(const std::vector<std::pair<Status, std::int64_t>>& cells) {
  for (const auto& [status, count] : cells)
    if (is_open(status)) return static_cast<int>(ExitCode::incomplete);
  return 0;
}

}  // namespace longhaul::orchestrator
