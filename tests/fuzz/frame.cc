// Frames: however a stream is cut, the same frames come out of it, and they are its bytes.
#include "common/frame.hh"

#include "tests/fuzz/input.hh"

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
