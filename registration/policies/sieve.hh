// SIEVE (Zhang and others, NSDI 2024): a queue in order of arrival and a hand that spares what was used since it last
// came by.
#pragma once

#include "registration/cache/cache.hh"
#include "registration/policies/stack.hh"

namespace longhaul::registration {

class Sieve : public Policy {
 public:
  explicit Sieve(const Regions& regions) : Policy(regions) {}
  void inserted(RegionId id) override;
  void touched(RegionId id) override { used_[id] = true; }
  void removed(RegionId id) override;
  void choose(std::uint64_t needed, std::vector<RegionId>& victims) override;

 private:
  Stack queue_;
  RegionId hand_ = kNoRegion;
  std::vector<bool> used_;
};

}  // namespace longhaul::registration
