// Enrolment of an agent, as both sides read it.
#include "agents/protocol/enrolment.hh"

#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  const auto text = fuzz::text_of(data, size);
  const auto print = [](const auto& word) { return agents::to_json(word); };
  fuzz::reads_back(text, agents::enrolment_request_from_json, print);
  fuzz::reads_back(text, agents::enrolment_grant_from_json, print);
  fuzz::reads_back(text, agents::enrolment_ready_from_json, print);
  return 0;
}
