// longhaul costs: what registering cost in a campaign, as profiles for the simulator.
#include <filesystem>
#include <memory>

#include "common/replace_file.hh"
#include "common/well_known.hh"
#include "orchestrator/cli/commands.hh"
#include "results/analyses/costs/costs.hh"
#include "results/store/address.hh"

namespace longhaul::orchestrator {
namespace {

struct CostsOptions {
  std::string directory;
  std::string profile;
  std::string out;
  bool json = false;
};

// Without a file: where `longhaul simulate --cost measured` looks.
Result<void> keep_profile(const std::string& out, const std::string& text) {
  if (!out.empty()) return replace_file(out, text);
  const auto kept = measured_costs();
  std::error_code error;
  std::filesystem::create_directories(kept.parent_path(), error);
  if (error) return refuse("{}: {}", kept.parent_path().string(), error.message());
  return replace_file(kept, text);
}

Result<void> write_profile(const CostsOptions& options, const std::vector<results::FittedCosts>& costs) {
  std::string names;
  for (const auto& one : costs) {
    if (one.name == options.profile) return keep_profile(options.out, results::to_profile(one));
    names += (names.empty() ? "'" : ", '") + one.name + "'";
  }
  return refuse("--profile '{}': {} has {}", options.profile, results::shown_address(options.directory),
                names.empty() ? "no costs: run campaigns/registration-2006.yaml" : names);
}

int costs(const CostsOptions& options) {
  const auto vocabulary = results_vocabulary();
  const auto summary = results::summarise_directory(options.directory, vocabulary);
  if (!summary) return report_error(summary.error(), options.json);
  const auto fitted = results::fit_costs(*summary, vocabulary);
  if (!options.profile.empty())
    if (auto written = write_profile(options, fitted); !written) return report_error(written.error(), options.json);
  tell(
      options.json, [&] { return results::to_json(fitted); }, [&] { return results::to_text(fitted); });
  return 0;
}

}  // namespace

void add_costs(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CostsOptions>();
  auto* command =
      app.add_subcommand("costs", "what registering memory cost: a p + b for p pages, fitted with intervals");
  command->add_option("DIR", options->directory, "a run directory with cells of the workload registration")->required();
  command->add_flag("--json", options->json, "print one JSON document");
  auto* profile =
      command
          ->add_option("--profile", options->profile,
                       "the one to keep for `longhaul simulate --cost measured`: a name that this command prints")
          ->type_name("NAME");
  auto* out = command->add_option("--out", options->out, "a file of its own for it: `longhaul simulate --cost FILE`")
                  ->type_name("FILE");
  out->needs(profile);
  command->footer(
      "Examples:\n  longhaul costs out/registration\n  longhaul costs out/registration --profile rxe\n"
      "  longhaul simulate --trace access.tsv --cost measured --out out/cache");
  command->callback([options, &exit_code] { exit_code = costs(*options); });
}

}  // namespace longhaul::orchestrator
