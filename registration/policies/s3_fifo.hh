// S3-FIFO (Yang and others, SOSP 2023): a small queue for newcomers, a main one for what was used again, and a memory
// of what the small one threw out.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>

#include <deque>

#include "registration/cache/cache.hh"
#include "registration/policies/stack.hh"

namespace longhaul::registration {

class S3Fifo : public Policy {
 public:
  /// `small`: share of the capacity in pages for newcomers.
  S3Fifo(const Regions& regions, Capacity capacity, double small);
  void inserted(RegionId id) override;
  void touched(RegionId id) override;
  void removed(RegionId id) override;
  void choose(std::uint64_t needed, std::vector<RegionId>& victims) override;

 private:
  struct State {
    std::uint8_t uses = 0;
    bool main = false;
    bool chosen = false;
  };
  void remember(Pages pages);
  void promote(RegionId id);

  std::uint64_t capacity_;
  std::uint64_t small_;
  std::uint64_t small_pages_ = 0;
  std::uint64_t main_pages_ = 0;
  Stack newcomers_;
  Stack main_;
  std::vector<State> states_;
  std::deque<Pages> ghosts_;
  boost::unordered_flat_set<std::uint64_t> known_ghosts_;  // their first pages
  std::uint64_t ghost_pages_ = 0;
};

}  // namespace longhaul::registration
