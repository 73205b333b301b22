// Events of a workload process: its record, and the distributions in it, which are made histograms and pooled.
#include "model/event.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  const auto text = fuzz::text_of(data, size);
  fuzz::reads_back(
      text, [](std::string_view document) { return bench_event_from_json(document); },
      [](const BenchEvent& event) { return to_json(event); });
  const auto event = bench_event_from_json(text);
  if (!event || !event->record) return 0;
  Histogram pooled;
  for (const auto& [name, metric] : event->record->metrics) {
    if (!metric.distribution) continue;
    const auto one = from_data(*metric.distribution);
    if (!one) continue;
    for (const double share : {0.0, 0.5, 0.99, 1.0}) {
      const auto value = one->quantile(share);
      fuzz::require(value >= static_cast<double>(one->min()) && value <= static_cast<double>(one->max()),
                    "a quantile lies between the extremes");
    }
    const auto before = pooled.count();
    pooled.merge(*one);
    fuzz::require(pooled.count() == before + one->count(), "pooled samples add up");
    (void)pooled.quantile(0.5);
  }
  return 0;
}
