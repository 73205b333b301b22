// Requests of controllers, as an agent reads them.
#include "agents/protocol/messages.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  fuzz::reads_back(
      fuzz::text_of(data, size), [](std::string_view text) { return agents::request_from_json(text); },
      [](const agents::Request& request) { return agents::to_json(request); });
  return 0;
}
