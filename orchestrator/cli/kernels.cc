// longhaul kernels: a campaign on labs of two kernels, and what the second changes.
#include <filesystem>
#include <memory>

#include "lab/image.hh"
#include "orchestrator/cli/campaign_run.hh"
#include "orchestrator/cli/commands.hh"
#include "results/report/comparison_page.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;

struct KernelsOptions {
  RunOptions run;  // of both
  std::string first, second;
};

// "6.12", a release, or "FILE:MODULES".
Result<lab::KernelChoice> understand(const std::string& word) {
  lab::KernelChoice choice{.kernel = word, .modules = {}};
  const auto colon = word.rfind(':');
  if (choice.own() && colon != std::string::npos)
    choice = {.kernel = word.substr(0, colon), .modules = word.substr(colon + 1)};
  if (choice.own() && choice.modules.empty())
    return refuse(
        "{}: where are the modules of this kernel? Expected FILE:MODULES, such as ./bzImage:lib/modules/6.13.0", word);
  return lab::settle_kernel(choice);
}

// Both, or neither: what cannot be had is told before hours are spent on the other.
Result<std::vector<lab::KernelChoice>> fetch(const KernelsOptions& options) {
  std::vector<lab::KernelChoice> both;
  std::vector<lab::Image> images;
  for (const auto& word : {options.first, options.second}) {
    auto choice = understand(word);
    if (!choice) return tl::unexpected(choice.error());
    const auto image = lab::build_image({}, *choice);
    if (!image) return tl::unexpected(image.error());
    both.push_back(std::move(*choice));
    images.push_back(*image);
  }
  // Not by the release: a kernel in which one line has been changed has the other's.
  if (images[0].kernel == images[1].kernel)
    return refuse("{} and {} are the same kernel, {}: there is nothing to compare", options.first, options.second,
                  images[0].release);
  return both;
}

int kernels(const KernelsOptions& options) {
  const auto& out = options.run.out;
  const auto both = fetch(options);
  if (!both) return report_error(both.error(), options.run.as_json);
  const auto [first, second] = lab::names_apart(both->front(), both->back());
  int worst = 0;
  std::vector<fs::path> directories;
  for (const auto& [kernel, name] : {std::pair{both->front(), first}, std::pair{both->back(), second}}) {
    auto run = options.run;
    run.kernel = kernel;
    run.out = (fs::path{out} / name).string();
    run.resume = options.run.resume && results::holds_store(run.out);
    const auto code = run_campaign(run);
    if (code != 0 && code != static_cast<int>(ExitCode::incomplete)) return code;
    worst = std::max(worst, code);
    directories.emplace_back(run.out);
  }
  const auto vocabulary = results_vocabulary();
  const auto comparison = results::compare(directories[0], directories[1], vocabulary);
  if (!comparison) return report_error(comparison.error(), options.run.as_json);
  const auto written = results::write_comparison(out, *comparison, vocabulary);
  if (!written) return report_error(written.error(), options.run.as_json);
  tell(
      options.run.as_json, [&] { return results::to_json(*comparison); },
      [&] { return results::to_text(*comparison, vocabulary); }, *written);
  return worst;
}

}  // namespace

void add_kernels(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<KernelsOptions>();
  auto& run = options->run;
  run.lab = true;
  auto* command = app.add_subcommand("kernels", "run a campaign on labs of two kernels: what does the second change?");
  command->add_option("CAMPAIGN", run.campaign, "the campaign file (YAML)")->required();
  const auto* which = "one of Debian's by its series (6.12) or release, or a kernel of your own as FILE:MODULES";
  command->add_option("FIRST", options->first, which)->required();
  command->add_option("SECOND", options->second, "likewise")->required();
  command
      ->add_option("--out", run.out,
                   "a run directory for each kernel goes there, and compare.html, which compares them")
      ->required();
  command->add_flag("--resume", run.resume, "go on with what is in --out");
  command
      ->add_option("--clock", run.clock,
                   "as for run; by the host's clock, what the machine does between both counts, too")
      ->type_name("host|virtual");
  command->add_option("--topology", run.topology, "as for run")->capture_default_str();
  command->add_option("--seed", run.seed, "as for run: the same for both, so that their repetitions are pairs");
  command->add_option("--labs", run.labs, "as for run");
  command->add_option("--shift", run.shift, "as for run")->check(CLI::Range(0, 2))->capture_default_str();
  command->add_option("--quantum", run.quantum, "as for run")->check(CLI::Range(100, 100000))->capture_default_str();
  command->add_flag("--json", run.as_json, "print JSON, one document a line; the comparison is the last");
  command->footer(
      "Examples:\n  longhaul kernels campaigns/quick.yaml 6.1 6.12 --out out/kernels\n"
      "  longhaul kernels campaigns/quick.yaml 6.12 ./arch/x86/boot/bzImage:/tmp/mine/lib/modules/6.13.0 --out "
      "out/mine\n"
      "Debian's kernels are fetched by apt-get, with no rights. Exits as run does.");
  command->callback([options, &exit_code] { exit_code = kernels(*options); });
}

}  // namespace longhaul::orchestrator
