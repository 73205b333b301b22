#include "common/line_reader.hh"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/log.hh"

namespace longhaul {

Result<std::optional<std::string>> LineReader::next(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (const auto end = buffer_.find('\n', looked_at_); end != std::string::npos) {
      auto line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      looked_at_ = 0;
      return line;
    }
    looked_at_ = buffer_.size();
    if (buffer_.size() > longest_) return fail("said a line of more than {} bytes", longest_);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000))) <= 0) {
      if (left <= 0) return std::nullopt;
      continue;
    }
    char bytes[4096];
    const auto got = ::read(fd_, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return fail("cannot be read: {}", errno_text(errno));
    if (got == 0) return fail("has ended");
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
}

}  // namespace longhaul
