// Frames: a 4-byte big-endian length, then that many bytes. The wire format of the child contract, of degen's socket
// and of the agents' protocol. Pure: bytes in, frames out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "common/result.hh"

namespace longhaul {

/// A frame longer than this is refused before a byte of it is stored: 16 MiB.
inline constexpr std::size_t kMaxFrame = std::size_t{16} << 20;

/// The frame that carries `payload`. Throws std::length_error above kMaxFrame.
std::string encode_frame(std::string_view payload);

/// Cuts a byte stream into frames. After a refusal the stream is unusable: close it.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::size_t limit = kMaxFrame) : limit_(limit) {}

  /// Takes bytes as they come. Refuses a header that announces more than the limit.
  Result<void> feed(std::string_view bytes);

  /// The next whole frame, oldest first; false when there is none.
  bool next(std::string& frame);

  /// True in the middle of a frame: an end of stream here means a truncated message.
  bool partial() const { return !buffer_.empty(); }

 private:
  std::size_t limit_;
  std::string buffer_;
  std::deque<std::string> frames_;
};

}  // namespace longhaul
