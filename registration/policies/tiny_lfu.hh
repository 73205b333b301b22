// W-TinyLFU (Einziger and others, 2017): a window of newcomers, a segmented main part, and a sketch of how often each
// was asked for, which decides who may pass from the one to the other.
#pragma once

#include <array>

#include "registration/cache/cache.hh"
#include "registration/policies/stack.hh"

namespace longhaul::registration {

/// Approximate counts of uses: counters of four bits, halved now and then (count-min with four rows).
class FrequencySketch {
 public:
  explicit FrequencySketch(std::uint64_t entries);
  void count(std::uint64_t what);
  unsigned estimate(std::uint64_t what) const;

 private:
  static constexpr unsigned kMost = 15;
  std::size_t slot(std::uint64_t what, unsigned row) const;
  std::vector<std::uint8_t> counters_;
  std::uint64_t mask_;
  std::uint64_t counted_ = 0;
  std::uint64_t period_;
};

class TinyLfu : public Policy {
 public:
  /// `window`, `protected_share`: of the capacity, and of the main part, in pages.
  TinyLfu(const Regions& regions, Capacity capacity, double window, double protected_share);
  void inserted(RegionId id) override;
  void touched(RegionId id) override;
  void removed(RegionId id) override;
  void choose(std::uint64_t needed, std::vector<RegionId>& victims) override;

 private:
  // trial: out of the window, not yet judged.
  enum class Part : std::uint8_t { window, trial, probation, protection };
  void move(RegionId id, Part to);
  Stack& stack(Part part) { return stacks_[static_cast<std::size_t>(part)]; }
  std::uint64_t& pages(Part part) { return pages_[static_cast<std::size_t>(part)]; }

  std::uint64_t window_;
  std::uint64_t protection_;
  FrequencySketch sketch_;
  std::array<Stack, 4> stacks_;
  std::array<std::uint64_t, 4> pages_{};
  std::vector<Part> parts_;
};

}  // namespace longhaul::registration
