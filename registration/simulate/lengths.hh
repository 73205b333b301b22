// The lengths of a trace's requests, in pages.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace longhaul::registration {

/// Lengths at which shares are given: to the largest request of the MRRC paper's traces.
inline constexpr std::uint64_t kLengthSteps[] = {1, 2, 4, 8, 16, 32};

/// What is shown of them.
struct LengthSummary {
  std::vector<std::uint64_t> by_power;                         ///< as Lengths::by_power()
  std::uint64_t median = 0;                                    ///< pages
  std::array<double, std::size(kLengthSteps)> shares_up_to{};  ///< of the requests, by kLengthSteps
};

class Lengths {
 public:
  void add(std::uint64_t pages) {
    ++count_;
    ++(pages < few_.size() ? few_[pages] : many_[pages]);
  }

  std::uint64_t count() const { return count_; }
  /// Share of the requests that have at most so many pages.
  double share_up_to(std::uint64_t pages) const;
  /// Of the one in the middle (of an even number the shorter of the two); 0 of none.
  std::uint64_t median() const;
  /// [i]: how many have 2^i to 2^(i+1) - 1 pages, as the paper's figure 9 rounds; up to the longest.
  std::vector<std::uint64_t> by_power() const;
  LengthSummary summary() const;

 private:
  template <typename Take>
  void each(Take take) const;  // in ascending order, until `take` returns false

  std::array<std::uint64_t, 64> few_{};  // by pages
  std::map<std::uint64_t, std::uint64_t> many_;
  std::uint64_t count_ = 0;
};

}  // namespace longhaul::registration
