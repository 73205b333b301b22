// The client's side of flow control (RFC 8166, section 3.3): no more calls under way than the server has granted with
// its last reply, and one before the first. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace longhaul::workloads::rpc {

class Credits {
 public:
  /// `wanted`: asked for with every call; more are not used, whatever the server grants.
  explicit Credits(std::uint32_t wanted) : wanted_(std::max(wanted, 1U)) {}

  std::uint32_t wanted() const { return wanted_; }
  std::uint32_t under_way() const { return under_way_; }
  /// As many calls may go out, `wanted` at the most, and are counted. 0: the next has to wait for a reply; counted as a
  /// stall.
  std::uint32_t take(std::uint32_t wanted = 1) {
    if (under_way_ >= granted_) {
      ++stalls_;
      return 0;
    }
    const auto taken = std::min(wanted, granted_ - under_way_);
    under_way_ += taken;
    return taken;
  }
  /// A reply came. A grant of 0 is one: a client that may send nothing could never be told otherwise.
  void replied(std::uint32_t granted) {
    granted_ = std::clamp(granted, 1U, wanted_);
    if (under_way_ > 0) --under_way_;
  }
  /// How often take() gave none.
  std::uint64_t stalls() const { return stalls_; }

 private:
  std::uint32_t wanted_;
  std::uint32_t granted_ = 1;
  std::uint32_t under_way_ = 0;
  std::uint64_t stalls_ = 0;
};

}  // namespace longhaul::workloads::rpc
