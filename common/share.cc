#include "common/share.hh"

#include <string_view>

#include "common/number.hh"

namespace longhaul {

Result<Share> parse_share(const std::string& text) {
  Share share;
  const std::string_view all = text;
  const auto slash = all.find('/');
  if (slash == all.npos || !read_number(all.substr(0, slash), share.number) ||
      !read_number(all.substr(slash + 1), share.of) || share.number < 1 || share.number > share.of)
    return refuse("{}: expected such as 2/8, the second of eight", text);
  return share;
}

}  // namespace longhaul
