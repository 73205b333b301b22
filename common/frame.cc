#include "common/frame.hh"

#include <stdexcept>

namespace longhaul {

std::string encode_frame(std::string_view payload) {
  if (payload.size() > kMaxFrame) throw std::length_error(fmt::format("frame of {} bytes", payload.size()));
  const auto size = static_cast<std::uint32_t>(payload.size());
  std::string frame;
  frame.reserve(4 + payload.size());
  for (int shift = 24; shift >= 0; shift -= 8) frame.push_back(static_cast<char>((size >> shift) & 0xff));
  frame.append(payload);
  return frame;
}

Result<void> FrameDecoder::feed(std::string_view bytes) {
  buffer_.append(bytes);
  std::size_t at = 0;
  while (buffer_.size() - at >= 4) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(buffer_[at + i]);
    if (size > limit_) {
      buffer_.clear();
      return fail("frame of {} bytes announced, at most {} are taken", size, limit_);
    }
    if (buffer_.size() - at - 4 < size) break;
    frames_.emplace_back(buffer_, at + 4, size);
    at += 4 + size;
  }
  buffer_.erase(0, at);
  return {};
}

bool FrameDecoder::next(std::string& frame) {
  if (frames_.empty()) return false;
  frame = std::move(frames_.front());
  frames_.pop_front();
  return true;
}

}  // namespace longhaul
