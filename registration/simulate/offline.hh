// The optimal policy, which knows the future. Only for traces whose requests never overlap one another: there a region
// is an object, there at the size at which it is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "registration/cache/cost.hh"
#include "registration/simulate/simulation.hh"

namespace longhaul::registration {

class Future {
 public:
  void add(const std::vector<Pages>& requests);
  /// After the last: whether the requests are objects. None where two overlap.
  bool prepare();

  /// Belady's rule with sizes: of what is cached, what takes most pages for the longest time until it is asked for
  /// again goes first. Good, not optimal. From 4096 objects on the choice is among 256 of them, drawn at random.
  Tally belady_size(std::uint64_t capacity_pages) const;

  /// PFOO-L (Berger, Beckmann and Harchol-Balter 2018): the intervals between two requests for an object are taken in
  /// the order of what they bring by page and time, until they fill the cache on average over the trace. Nothing that
  /// is feasible hits more often, or saves more.
  struct Bound {
    double hits = 0;
    double saved = 0;  ///< us that hits spare
  };
  /// us of deregistering at most what is still cached when the trace ends, and so is never deregistered.
  double left_over(std::uint64_t capacity_pages, const CostProfile& profile) const;
  Bound pfoo_hits(std::uint64_t capacity_pages) const;
  Bound pfoo_saved(std::uint64_t capacity_pages, const CostProfile& profile) const;

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  template <typename Value>
  Bound greedy(std::uint64_t capacity_pages, Value value) const;
  std::vector<Pages> asked_;
  std::vector<std::uint32_t> object_;  // of each request
  std::vector<std::uint64_t> next_;    // request for the same object
  std::vector<std::uint32_t> size_;    // of each object, pages
};

}  // namespace longhaul::registration
