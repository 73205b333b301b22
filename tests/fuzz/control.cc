// The bench's control connection: its first bytes, and the messages behind them.
#include "workloads/harness/control.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  const auto text = fuzz::text_of(data, size);
  if (const auto preamble = workloads::decode_preamble(text.substr(0, workloads::kPreambleSize))) {
    const auto again = workloads::decode_preamble(workloads::encode(*preamble));
    fuzz::require(again == preamble, "a preamble reads back the same");
  }
  fuzz::reads_back(
      text, [](std::string_view message) { return workloads::control_message_from_json(message); },
      [](const workloads::ControlMessage& message) { return workloads::to_json(message); });
  return 0;
}
