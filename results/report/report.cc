#include "results/report/report.hh"

#include "common/replace_file.hh"
#include "results/claims/check.hh"
#include "results/report/answer.hh"
#include "results/summary/clock.hh"

namespace longhaul::results {
namespace {

Result<void> put(Written& written, const std::filesystem::path& path, const std::string& text) {
  auto replaced = replace_file(path, text);
  if (replaced) written.files.push_back(path);
  return replaced;
}

}  // namespace

std::string claims_of(const Analysis& analysis) {
  return to_json(analysis.claims, analysis.summary);
}

std::string headline_of(const Analysis& analysis) {
  const auto& [summary, vocabulary, pairings, claims] = analysis;
  auto text = answer_of(summary, pairings, vocabulary).answer + "\n";
  for (const auto& pairing : pairings) {
    text += fmt::format("  {} ({}): {}\n   ", name_of(pairing, vocabulary), pairing.metric, course_of(pairing));
    for (const auto& point : pairing.points) {
      text += fmt::format(" {}: {}x", short_time(static_cast<double>(point.delay)), short_ratio(point.ratio.value));
      if (point.ratio.interval)
        text +=
            fmt::format(" [{}, {}]", short_ratio(point.ratio.interval->low), short_ratio(point.ratio.interval->high));
    }
    text += "\n";
  }
  std::map<Status, int> count;
  for (const auto& cell : summary.cells) ++count[cell.status];
  text += fmt::format("{} cells:", summary.cells.size());
  for (const auto& [status, cells] : count)
    text += fmt::format(" {} {}", cells, boost::describe::enum_to_string(status, "?"));
  text += "\n";
  const auto clock = clock_of(summary);
  if (clock != kHostClock)
    text += fmt::format("{} {}.\n", clock == "both" ? "Some cells were" : "All of it was", kVirtualClockLimits);
  if (summary.emulated && clock != kVirtualClock)
    text += "Emulated processors: absolute times describe the lab, not a network.\n";
  return text;
}

Result<Written> write_csv(const std::filesystem::path& directory, const Vocabulary& vocabulary) {
  const auto summary = summarise_directory(directory.string(), vocabulary);
  if (!summary) return tl::unexpected(summary.error());
  Written written;
  if (auto done = put(written, directory / "cells.csv", csv_of(*summary, vocabulary)); !done)
    return tl::unexpected(done.error());
  return written;
}

Result<Written> write_report(const std::filesystem::path& directory, const Analysis& analysis) {
  const std::pair<const char*, std::string> files[] = {{"cells.csv", csv_of(analysis.summary, analysis.vocabulary)},
                                                       {"claims.json", claims_of(analysis)},
                                                       {"report.html", page_of(analysis)}};
  Written written;
  for (const auto& [name, text] : files)
    if (auto done = put(written, directory / name, text); !done) return tl::unexpected(done.error());
  return written;
}

}  // namespace longhaul::results
