// Schedules and faults as text, and traces of links that become schedules.
#include "degen/impairment/schedule.hh"

#include "degen/impairment/faults.hh"
#include "degen/impairment/trace.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  const auto text = fuzz::text_of(data, size);
  if (const auto faults = degen::parse_faults(text)) {
    const auto again = degen::parse_faults(degen::to_text(*faults));
    fuzz::require(again.has_value() && *again == *faults, "faults read back the same");
  }
  const auto reads_back = [](const Result<degen::Schedule>& schedule) {
    if (!schedule) return;
    const auto again = degen::parse_schedule(degen::to_text(*schedule));
    fuzz::require(again.has_value() && *again == *schedule, "a schedule reads back the same");
  };
  reads_back(degen::parse_schedule(text));
  reads_back(degen::read_trace(text, degen::kTraceStep));
  return 0;
}
