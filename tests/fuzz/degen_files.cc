// What degen keeps under its run directory and reads back: owned.json, calibration.json.
#include "degen/service/calibration.hh"
#include "degen/service/ownership.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  const auto text = fuzz::text_of(data, size);
  fuzz::reads_back(
      text, [](std::string_view document) { return degen::ownership_from_json(document); },
      [](const degen::Ownership& ownership) { return degen::to_json(ownership); });
  fuzz::reads_back(
      text, [](std::string_view document) { return degen::calibration_from_json(document); },
      [](const degen::Calibration& calibration) { return degen::to_json(calibration); });
  auto calibration = degen::calibration_from_json(text);
  if (!calibration) return 0;
  using std::chrono_literals::operator""ms;
  (void)calibration->estimate("netem", degen::Way::forward, 5ms);
  calibration->learn("netem", degen::Way::forward, 5ms, 1ms);
  (void)calibration->estimate("netem", degen::Way::back, 20ms);
  return 0;
}
