// What passes in and out of a sealed lab: the order of a copy, injections, and what the copy said of its run.
#include "model/injection.hh"
#include "orchestrator/run/order.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  using namespace longhaul::orchestrator;
  const auto text = fuzz::text_of(data, size);
  fuzz::reads_back(
      text, [](std::string_view one) { return order_from_json(one); },
      [](const SealedOrder& order) { return to_json(order); });
  if (const auto injection = injection_from_words(text)) {
    fuzz::require(to_words(*injection) == text, "an injection keeps its words");
    fuzz::require(find_fault(injection->fault) != nullptr, "an injection's fault is one that there is");
  }
  const auto saying = understand_saying(text);
  if (!saying) return 0;
  std::string again;
  for (const auto& record : saying->records) again += say_record(record);
  const auto twice = understand_saying(again);
  fuzz::require(twice && twice->records.size() == saying->records.size(), "what was said of runs is said again");
  return 0;
}
