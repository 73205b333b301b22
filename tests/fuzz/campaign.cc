// Campaign files: read, understood, and made cells where they are not too many to be waited for.
#include "degen/impairment/spec.hh"
#include "orchestrator/campaign/cells.hh"
#include "tests/fuzz/input.hh"
#include "workloads/suite/catalog.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  using namespace longhaul::orchestrator;
  constexpr std::int64_t kPatience = 200;  // combinations
  static const Vocabulary vocabulary{
      .common = common_axes(), .impairment = degen::impairment_axes(), .workloads = workloads::catalog()};
  auto file = parse_campaign("fuzz.yaml", std::string{fuzz::text_of(data, size)});
  if (!file) {
    fuzz::require(file.error().message.starts_with("fuzz.yaml"), "an error names the file");
    return 0;
  }
  const auto campaign = understand(std::move(*file), vocabulary);
  if (!campaign || count_combinations(*campaign) > kPatience) return 0;
  const auto cells = expand(*campaign);
  if (!cells) return 0;
  for (const auto& cell : *cells) fuzz::require(cell.id == cell_id(cell.cell), "a cell has its own identity");
  return 0;
}
