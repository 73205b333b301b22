// Messages of agents, as a controller reads them.
#include "agents/protocol/messages.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  fuzz::reads_back(
      fuzz::text_of(data, size), [](std::string_view text) { return agents::server_message_from_json(text); },
      [](const agents::ServerMessage& message) { return agents::to_json(message); });
  return 0;
}
