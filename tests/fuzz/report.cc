// What a store holds, as a report reads it: the manifest, then a run a line. All that is made of it is made: the page,
// the CSV, the claims, the words for a terminal. Nothing of the data becomes markup of the page.
#include "results/report/report.hh"

#include <algorithm>

#include "degen/impairment/spec.hh"
#include "tests/fuzz/input.hh"
#include "workloads/suite/catalog.hh"

namespace {

using namespace longhaul;
using namespace longhaul::results;

std::string_view line_of(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

auto marks_in(const std::string& page) {
  return std::count(page.begin(), page.end(), '<');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kMostRuns = 32;
  static const Vocabulary vocabulary{.workloads = workloads::catalog(), .impairment = degen::impairment_axes()};
  static const auto plain = marks_in(page_of(analyse(*summarise({}, {}, {}, vocabulary), vocabulary)));
  auto text = fuzz::text_of(data, size);
  const auto manifest = manifest_from_json(line_of(text));
  if (!manifest) return 0;
  std::vector<RunRecord> runs;
  for (int i = 0; i < kMostRuns && !text.empty(); ++i)
    if (auto run = run_record_from_json(line_of(text))) runs.push_back(std::move(*run));
  auto summary = summarise(*manifest, runs, {}, vocabulary);
  if (!summary) return 0;
  const auto analysis = analyse(std::move(*summary), vocabulary);
  fuzz::require(marks_in(page_of(analysis)) == plain, "the page has no marks but its own");
  (void)csv_of(analysis.summary, vocabulary);
  (void)claims_of(analysis);
  (void)headline_of(analysis);
  (void)json_of(analysis);
  return 0;
}
