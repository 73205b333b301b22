// Requests at degen's socket, its replies, and the impairments that requests ask for.
#include "degen/client/messages.hh"
#include "degen/impairment/spec.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  const auto text = fuzz::text_of(data, size);
  fuzz::reads_back(
      text, [](std::string_view document) { return degen::request_from_json(document); },
      [](const degen::Request& request) { return degen::to_json(request); });
  fuzz::reads_back(
      text, [](std::string_view document) { return degen::reply_from_json(document); },
      [](const degen::Reply& reply) { return degen::to_json(reply); });
  return 0;
}
