// longhaul history: how a workload's figures moved over commits, kernels and machines.
#include <memory>

#include "orchestrator/cli/commands.hh"
#include "results/report/history_page.hh"
#include "results/store/postgres/backend.hh"

namespace longhaul::orchestrator {
namespace {

struct HistoryOptions {
  std::string workload;
  std::vector<std::string> sources;
  std::string metric;
  std::string out;
  std::size_t last = 20;
  bool as_json = false;
};

// A database stands for the last of its campaigns.
Result<std::vector<std::string>> campaigns_of(const std::string& source, std::size_t last) {
  if (!results::is_postgres(source)) return std::vector{source};
  const auto address = results::parse_postgres(source);
  if (!address) return tl::unexpected(address.error());
  if (!address->campaign.empty()) return std::vector{source};
  const auto campaigns = results::list_campaigns(*address);
  if (!campaigns) return tl::unexpected(campaigns.error());
  std::vector<std::string> names;
  // One without a version has no manifest: it was interrupted before it began, or is being copied.
  for (const auto& one : *campaigns)
    if (one.runs > 0 && !one.version.empty()) names.push_back(address->url + '#' + one.name);
  if (names.size() > last) names.erase(names.begin(), names.end() - static_cast<std::ptrdiff_t>(last));
  return names;
}

Result<results::History> make(const HistoryOptions& options, const results::Vocabulary& vocabulary) {
  const auto* workload = vocabulary.workload(options.workload);
  if (workload == nullptr) {
    std::string known;
    for (const auto& one : vocabulary.workloads) known += (known.empty() ? "" : ", ") + one.name;
    return refuse("'{}' is no workload: expected one of {}", options.workload, known);
  }
  std::vector<results::NamedSummary> campaigns;
  for (const auto& source : options.sources) {
    const auto names = campaigns_of(source, options.last);
    if (!names) return tl::unexpected(names.error());
    for (const auto& name : *names) {
      auto summary = results::summarise_directory(name, vocabulary);
      if (!summary) return tl::unexpected(summary.error());
      const auto hash = results::is_postgres(name) ? name.rfind('#') + 1 : 0;
      campaigns.push_back({.name = name.substr(hash), .summary = std::move(*summary)});
    }
  }
  auto history = results::history(std::move(campaigns), options.workload, options.metric, vocabulary);
  if (history.cells.empty())
    return refuse("none of these campaigns has a figure {}of workload {}",
                  options.metric.empty() ? "" : "'" + options.metric + "' ", options.workload);
  return history;
}

}  // namespace

void add_history(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<HistoryOptions>();
  auto* command =
      app.add_subcommand("history", "how a workload's figures moved from campaign to campaign, and what else changed");
  command->add_option("WORKLOAD", options->workload, "such as latency")->required();
  command
      ->add_option("SOURCE", options->sources,
                   "run directories, postgresql://HOST/DATABASE#CAMPAIGN, or a database for all of its campaigns")
      ->required();
  command->add_option("--metric", options->metric, "such as p99; without it the workload's first");
  command->add_option("--last", options->last, "so many campaigns of a database")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--out", options->out, "writes history.html and history.json there, too")->type_name("DIR");
  command->add_flag("--json", options->as_json, "print one JSON document");
  command->footer(
      "Each line is a campaign, in the order of time; the ratio is to the line above it, with its 95 % interval.\n"
      "Examples:\n  longhaul history latency postgresql://db.example.org/lab --out out/history\n"
      "  longhaul history transfer out/monday out/tuesday --metric transfer_time");
  command->callback([options, &exit_code] {
    const auto vocabulary = results_vocabulary();
    const auto made = make(*options, vocabulary);
    if (!made) {
      exit_code = report_error(made.error(), options->as_json);
      return;
    }
    std::vector<std::filesystem::path> files;
    if (!options->out.empty()) {
      auto written = results::write_history(options->out, *made, vocabulary);
      if (!written) {
        exit_code = report_error(written.error(), options->as_json);
        return;
      }
      files = std::move(*written);
    }
    tell(
        options->as_json, [&] { return results::to_json(*made); }, [&] { return results::to_text(*made, vocabulary); },
        files);
  });
}

}  // namespace longhaul::orchestrator
