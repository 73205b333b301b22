// longhaul report, compare, claims.
#include <filesystem>
#include <memory>

#include "common/printable.hh"
#include "orchestrator/cli/commands.hh"
#include "results/analyses/compare/compare.hh"
#include "results/claims/check.hh"
#include "results/report/comparison_page.hh"
#include "results/report/report.hh"
#include "results/store/address.hh"

namespace longhaul::orchestrator {
namespace {

struct ResultsOptions {
  std::string directory;
  std::string other;
  std::string out;
  bool json = false;
};

int report(const ResultsOptions& options) {
  if (options.out.empty() && results::is_postgres(options.directory))
    return report_error({.message = "--out DIR is missing: where the page of a campaign in PostgreSQL goes"},
                        options.json);
  const auto& out = options.out.empty() ? options.directory : options.out;
  const auto vocabulary = results_vocabulary();
  const auto analysis = results::analyse_directory(options.directory, vocabulary);
  if (!analysis) return report_error(analysis.error(), options.json);
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) return report_error({.message = fmt::format("{}: {}", out, error.message())}, options.json);
  const auto written = results::write_report(out, *analysis);
  if (!written) return report_error(written.error(), options.json);
  tell(
      options.json, [&] { return results::json_of(*analysis); },
      [&] { return printable(results::headline_of(*analysis)); }, written->files);
  return 0;
}

int compare(const ResultsOptions& options) {
  const auto vocabulary = results_vocabulary();
  const auto comparison = results::compare(options.directory, options.other, vocabulary);
  if (!comparison) return report_error(comparison.error(), options.json);
  std::vector<std::filesystem::path> files;
  if (!options.out.empty()) {
    auto written = results::write_comparison(options.out, *comparison, vocabulary);
    if (!written) return report_error(written.error(), options.json);
    files = std::move(*written);
  }
  tell(
      options.json, [&] { return results::to_json(*comparison); },
      [&] { return results::to_text(*comparison, vocabulary); }, files);
  return 0;
}

int claims(const ResultsOptions& options) {
  const auto vocabulary = results_vocabulary();
  const auto summary = results::summarise_directory(options.directory, vocabulary);
  if (!summary) return report_error(summary.error(), options.json);
  const auto checked = results::check_claims(*summary, vocabulary, results::all_claims());
  tell(
      options.json, [&] { return results::to_json(checked, *summary); },
      [&] { return results::to_text(checked, *summary); });
  return 0;
}

}  // namespace

void add_results(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ResultsOptions>();

  auto* one = app.add_subcommand("report", "write report.html, cells.csv and claims.json of a run directory again");
  one->add_option("DIR", options->directory, "what `longhaul run --out` wrote, or postgresql://HOST/DATABASE#CAMPAIGN")
      ->required();
  one->add_option("--out", options->out, "where the files go; without it DIR")->type_name("DIR");
  one->add_flag("--json", options->json, "print the comparison and the cells as one JSON document");
  one->footer(
      "Examples:\n  longhaul report out/quick\n"
      "  longhaul report postgresql://db.example.org/lab#quick --out quick");
  one->callback([options, &exit_code] { exit_code = report(*options); });

  auto* two = app.add_subcommand("compare",
                                 "do two campaigns agree? Cell by cell, the ratio of medians with its 95 % interval");
  two->add_option("DIR", options->directory, "the first: a run directory, or postgresql://HOST/DATABASE#CAMPAIGN")
      ->required();
  two->add_option("OTHER", options->other, "the second")->required();
  two->add_option("--out", options->out, "writes compare.html and compare.json there, too")->type_name("DIR");
  two->add_flag("--json", options->json, "print one JSON document");
  two->footer(
      "A cell agrees when the interval of second / first contains 1.\nExamples:\n  longhaul compare out/monday "
      "out/tuesday\n  longhaul compare out/6.1 out/6.12 --out out/kernels");
  two->callback([options, &exit_code] { exit_code = compare(*options); });

  auto* three = app.add_subcommand("claims", "print the verdicts on the papers' claims");
  three->add_option("DIR", options->directory, "a run directory, or postgresql://HOST/DATABASE#CAMPAIGN")->required();
  three->add_flag("--json", options->json,
                  "print one JSON document: statements, criteria, verdicts, figures with intervals");
  three->footer("Example:\n  longhaul claims out/quick");
  three->callback([options, &exit_code] { exit_code = claims(*options); });
}

}  // namespace longhaul::orchestrator
