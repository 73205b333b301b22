// Traces of the simulation in all their formats (the first byte says which), compressed or not.
#include "registration/simulate/trace.hh"

#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "common/error.hh"
#include "common/fd.hh"
#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  using namespace longhaul::registration;
  constexpr std::array kFormats{Format::nasa, Format::clf, Format::arc, Format::vscsi, Format::oracle, Format::csv};
  constexpr int kRounds = 2000;  // a few bytes may stand for very many requests
  if (size == 0) return 0;
  const OwnFd file{check(::memfd_create("trace", MFD_CLOEXEC), "making a file in memory")};
  check(::write(file.get(), data + 1, size - 1), "writing a trace");
  const auto path = fmt::format("/proc/self/fd/{}", file.get());
  const auto trace = open_trace(path, kFormats[data[0] % kFormats.size()], {.skip_bad = 3});
  if (!trace) return 0;
  std::vector<Pages> requests;
  for (int round = 0; round < kRounds; ++round) {
    if (!(*trace)->next(requests) || requests.empty()) break;
    for (const auto& pages : requests) fuzz::require(pages.count > 0, "a request is for pages");
  }
  return 0;
}
