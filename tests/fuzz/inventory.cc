// Inventories: YAML as `longhaul run` takes it, and the testbed that it describes.
#include "orchestrator/cli/inventory.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  const auto document = orchestrator::yaml_to_json("fuzz.yaml", std::string{fuzz::text_of(data, size)});
  if (!document) return 0;
  const auto testbed = testbed_from_inventory(*document);
  if (!testbed) return 0;
  fuzz::reads_back(
      to_json(*testbed), [](std::string_view text) { return testbed_from_json(text); },
      [](const Testbed& one) { return to_json(one); });
  return 0;
}
