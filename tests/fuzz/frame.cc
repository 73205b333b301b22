// Frames: however a stream is cut, the same frames come out of it, and they are its bytes.
#include "common/frame.hh"

#include "tests/fuzz/input.hh"
#include "tests/fuzz/mend.hh"

namespace {

using namespace longhaul;

constexpr std::size_t kLimit = 4096;

// All whole frames, encoded anew; nothing behind a refusal.
std::string again(std::string_view stream, std::size_t step) {
  FrameDecoder decoder{kLimit};
  std::string bytes;
  std::string frame;
  bool refused = false;
  for (std::size_t at = 0; at < stream.size() && !refused; at += step) {
    refused = !decoder.feed(stream.substr(at, step));
    while (decoder.next(frame)) bytes += encode_frame(frame);
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto stream = fuzz::text_of(data + 1, size - 1);
  const auto cut = again(stream, 1 + std::size_t{data[0]});
  fuzz::require(stream.starts_with(cut), "frames are the stream's bytes");
  fuzz::require(again(stream, stream.size() + 1) == cut, "a stream that comes at once gives the same frames");
  return 0;
}

// The last frame ends where the input does, and none is longer than the decoder takes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace longhaul::fuzz;
  return mutate(data, size, max_size, seed, [](std::uint8_t* bytes, std::size_t length) {
    constexpr std::size_t kHead = 4;
    for (std::size_t at = 1; at + kHead <= length;) {
      const auto room = length - at - kHead;
      const auto told = get(bytes + at, kHead, Order::big);
      const auto payload = told > room ? std::min(room, told % 64) : static_cast<std::size_t>(told);
      put(bytes + at, kHead, Order::big, payload);
      at += kHead + payload;
    }
    return length;
  });
}
