#include "common/share.hh"

#include <charconv>
#include <string_view>

namespace longhaul {
namespace {

// True if all of it is a number.
bool read(std::string_view text, std::size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Result<Share> parse_share(const std::string& text) {
  Share share;
  const std::string_view all = text;
  const auto slash = all.find('/');
  if (slash == all.npos || !read(all.substr(0, slash), share.number) || !read(all.substr(slash + 1), share.of) ||
      share.number < 1 || share.number > share.of)
    return refuse("{}: expected such as 2/8, the second of eight", text);
  return share;
}

}  // namespace longhaul
