// Lines from a descriptor.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "common/result.hh"

namespace longhaul {

/// Cuts what comes through a pipe or a socket into lines. Does not own the descriptor.
class LineReader {
 public:
  /// `longest`: a line with more bytes is an error.
  explicit LineReader(int fd, std::size_t longest = std::size_t{16} << 20) : fd_(fd), longest_(longest) {}

  /// The next line, without its line feed; empty: none came within `patience`. Errors: the other end has ended (what it
  /// began to say is lost), a line that is too long.
  Result<std::optional<std::string>> next(std::chrono::milliseconds patience);

 private:
  int fd_;
  std::size_t longest_;
  std::string buffer_;
  std::size_t looked_at_ = 0;  ///< bytes of the buffer that are no line feed
};

}  // namespace longhaul
