// MRRC's replacement, memory region replacement by eviction factor (MRRC paper, section 5; our readings of what it
// leaves open are PAPERS.md's 1 - 4). One LRU stack; its upper part is left alone, the rest is sorted by the factor
// r + 1 / pages when room is needed, and what is then lowest goes in one batch.
#pragma once

#include "registration/cache/cache.hh"
#include "registration/policies/stack.hh"

namespace longhaul::registration {

class Mrre : public Policy {
 public:
  enum class Reading {
    text,   ///< only a factor that is zero is renewed (a reference makes it zero); then r becomes the bottom's
    figure  ///< first r becomes the bottom's factor, then all factors of the resorting section are renewed
  };
  /// `frequent`, `eviction`: the sections' shares of the capacity in pages.
  Mrre(const Regions& regions, Capacity capacity, Reading reading, double frequent, double eviction);
  void inserted(RegionId id) override;
  void touched(RegionId id) override;
  void removed(RegionId id) override { stack_.remove(id); }
  void choose(std::uint64_t needed, std::vector<RegionId>& victims) override;

 private:
  Reading reading_;
  std::uint64_t frequent_;
  std::uint64_t eviction_;
  double recency_ = 0;  // the paper's r
  std::vector<double> factors_;
  Stack stack_;
  std::vector<RegionId> resorting_;
};

}  // namespace longhaul::registration
