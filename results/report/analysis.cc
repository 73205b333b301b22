#include "results/report/analysis.hh"

namespace longhaul::results {

Analysis analyse(Summary summary, Vocabulary vocabulary) {
  auto pairings = pair_transports(summary.cells, vocabulary);
  auto claims = check_claims(summary, vocabulary, all_claims());
  return {.summary = std::move(summary),
          .vocabulary = std::move(vocabulary),
          .pairings = std::move(pairings),
          .claims = std::move(claims)};
}

Result<Analysis> analyse_directory(const std::string& directory, const Vocabulary& vocabulary) {
  auto summary = summarise_directory(directory, vocabulary);
  if (!summary) return tl::unexpected(summary.error());
  return analyse(std::move(*summary), vocabulary);
}

}  // namespace longhaul::results
