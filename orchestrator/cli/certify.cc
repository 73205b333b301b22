// longhaul certify: what degen's engines kept in a campaign, as a certificate for campaigns to come.
#include <filesystem>
#include <memory>

#include "common/printable.hh"
#include "common/replace_file.hh"
#include "orchestrator/cli/commands.hh"
#include "results/analyses/certificate/certificate.hh"

namespace longhaul::orchestrator {
namespace {

struct Options {
  std::string directory;
  std::string out;
  std::string plot;
  bool json = false;
};

int certify(const Options& options) {
  const auto vocabulary = results_vocabulary();
  const auto summary = results::summarise_directory(options.directory, vocabulary);
  if (!summary) return report_error(summary.error(), options.json);
  const auto certificate = results::certify(*summary, vocabulary);
  if (!certificate)
    return report_error({.message = fmt::format("{}: {}", options.directory, certificate.error().message)},
                        options.json);
  using File = std::pair<const std::string&, std::string (*)(const results::Certificate&)>;
  for (const auto& [file, write] : {File{options.out, results::to_json}, File{options.plot, results::to_svg}})
    if (!file.empty())
      if (auto written = replace_file(file, write(*certificate)); !written)
        return report_error(written.error(), options.json);
  fmt::print("{}", options.json ? results::to_json(*certificate) : printable_document(results::to_text(*certificate)));
  return 0;
}

}  // namespace

void add_certify(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "certify", "what degen's engines kept on a testbed: error by delay, rates, packets a second; as a certificate");
  command->add_option("DIR", options->directory, "a run directory with cells of the workload packets")->required();
  command
      ->add_option("--out", options->out,
                   "the certificate: `longhaul run --certificate FILE` leaves out the cells that lie outside of it")
      ->type_name("FILE");
  command->add_option("--plot", options->plot, "a picture (SVG): the error over the delay")->type_name("FILE");
  command->add_flag("--json", options->json, "print the certificate");
  command->footer(
      "Examples:\n  longhaul run campaigns/certify.yaml --lab --out out/certify\n"
      "  longhaul certify out/certify --out certificate.json --plot certificate.svg\n"
      "  longhaul run campaigns/quick.yaml --lab --certificate certificate.json --out out/quick");
  command->callback([options, &exit_code] { exit_code = certify(*options); });
}

}  // namespace longhaul::orchestrator
