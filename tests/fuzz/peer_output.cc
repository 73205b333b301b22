// What other people's measuring tools print. What is read of it is a figure.
#include <cmath>

#include "tests/fuzz/input.hh"
#include "workloads/protocols/peer.hh"

namespace {

void is_figure(const longhaul::Result<double>& read) {
  if (read) longhaul::fuzz::require(std::isfinite(*read) && *read >= 0, "what is read is a figure");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  using namespace longhaul::workloads;
  const auto text = fuzz::text_of(data, size);
  is_figure(peer::read_iperf3(text));
  is_figure(peer::read_perftest(text, 65536));
  is_figure(peer::read_perftest_latency(text, 64));
  is_figure(peer::read_qperf(text));
  return 0;
}
