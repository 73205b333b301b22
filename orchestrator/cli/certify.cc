// longhaul certify: what degen's engines kept in a campaign, as a certificate for campaigns to come.
#include <filesystem>
#include <memory>

#include "common/replace_file.hh"
#include "orchestrator/cli/certificate.hh"
#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/inventory.hh"
#include "results/analyses/certificate/certificate.hh"
#include "results/store/address.hh"

namespace longhaul::orchestrator {
namespace {

struct CertifyOptions {
  std::string source;
  std::string out;
  std::string plot;
  bool json = false;
};

// A run directory's, or one that is there already.
Result<Certificate> certificate_of(const std::string& source) {
  if (std::filesystem::is_regular_file(source)) return read_certificate(source);
  const auto vocabulary = results_vocabulary();
  const auto summary = results::summarise_directory(source, vocabulary);
  if (!summary) return tl::unexpected(summary.error());
  auto made = results::certify(*summary, vocabulary);
  if (!made)
    return tl::unexpected(
        Error{fmt::format("{}: {}", results::shown_address(source), made.error().message), made.error().exit_code});
  return made;
}

int certify(const CertifyOptions& options) {
  const auto certificate = certificate_of(options.source);
  if (!certificate) return report_error(certificate.error(), options.json);
  using File = std::pair<const std::string&, std::string (*)(const Certificate&)>;
  for (const auto& [file, write] : {File{options.out, longhaul::to_json}, File{options.plot, results::to_svg}})
    if (!file.empty())
      if (auto written = replace_file(file, write(*certificate)); !written)
        return report_error(written.error(), options.json);
  tell(
      options.json, [&] { return longhaul::to_json(*certificate); }, [&] { return to_text(*certificate); });
  return 0;
}

}  // namespace

Result<Certificate> read_certificate(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  auto certificate = certificate_from_json(*text);
  if (!certificate) return refuse("{}: {}", file, certificate.error().message);
  return certificate;
}

void add_certify(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CertifyOptions>();
  auto* command = app.add_subcommand(
      "certify", "what degen's engines kept on a testbed: error by delay, rates, packets a second; as a certificate");
  command
      ->add_option("DIR", options->source,
                   "a run directory with cells of the workload packets, or a certificate (of degen certify)")
      ->required();
  command
      ->add_option("--out", options->out,
                   "the certificate: `longhaul run --certificate FILE` leaves out the cells that lie outside of it")
      ->type_name("FILE");
  command->add_option("--plot", options->plot, "a picture (SVG): the error over the delay")->type_name("FILE");
  command->add_flag("--json", options->json, "print the certificate");
  command->footer(
      "Examples:\n  longhaul run campaigns/certify.yaml --lab --out out/certify\n"
      "  longhaul certify out/certify --out certificate.json --plot certificate.svg\n"
      "  degen certify --out router.json && longhaul certify router.json --plot router.svg\n"
      "  longhaul run campaigns/quick.yaml --lab --certificate certificate.json --out out/quick");
  command->callback([options, &exit_code] { exit_code = certify(*options); });
}

}  // namespace longhaul::orchestrator
