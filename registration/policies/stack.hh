// A doubly linked list of regions, by id: what most policies keep theirs in.
#pragma once

#include <vector>

#include "registration/cache/policy.hh"

namespace longhaul::registration {

class Stack {
 public:
  bool empty() const { return top_ == kNoRegion; }
  RegionId top() const { return top_; }
  RegionId bottom() const { return bottom_; }
  /// Towards the top; kNoRegion above it.
  RegionId above(RegionId id) const { return links_[id].above; }
  RegionId below(RegionId id) const { return links_[id].below; }

  void push(RegionId id) {
    if (links_.size() <= id) links_.resize(id + 1);
    links_[id] = {kNoRegion, top_};
    if (top_ != kNoRegion)
      links_[top_].above = id;
    else
      bottom_ = id;
    top_ = id;
  }
  void push_bottom(RegionId id) {
    if (links_.size() <= id) links_.resize(id + 1);
    links_[id] = {bottom_, kNoRegion};
    if (bottom_ != kNoRegion)
      links_[bottom_].below = id;
    else
      top_ = id;
    bottom_ = id;
  }
  void remove(RegionId id) {
    const auto [above, below] = links_[id];
    (above != kNoRegion ? links_[above].below : top_) = below;
    (below != kNoRegion ? links_[below].above : bottom_) = above;
  }
  void raise(RegionId id) {
    if (id == top_) return;
    remove(id);
    push(id);
  }

 private:
  struct Link {
    RegionId above = kNoRegion;
    RegionId below = kNoRegion;
  };
  std::vector<Link> links_;
  RegionId top_ = kNoRegion;
  RegionId bottom_ = kNoRegion;
};

}  // namespace longhaul::registration
