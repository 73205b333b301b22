// Least recently used goes first; in batches where a fraction of the capacity goes at a time.
#pragma once

#include "registration/cache/cache.hh"
#include "registration/policies/stack.hh"

namespace longhaul::registration {

class Lru : public Policy {
 public:
  /// `batch`: fraction of the capacity that goes at a time; 0: no more than must.
  Lru(const Regions& regions, Capacity capacity, double batch);
  void inserted(RegionId id) override { stack_.push(id); }
  void touched(RegionId id) override { stack_.raise(id); }
  void removed(RegionId id) override { stack_.remove(id); }
  void choose(std::uint64_t needed, std::vector<RegionId>& victims) override;

 private:
  std::uint64_t batch_;
  Stack stack_;
};

}  // namespace longhaul::registration
