#include "registration/simulate/lengths.hh"

#include <bit>

namespace longhaul::registration {

template <typename Take>
void Lengths::each(Take take) const {
  for (std::uint64_t pages = 1; pages < few_.size(); ++pages)
    if (few_[pages] > 0 && !take(pages, few_[pages])) return;
  for (const auto& [pages, requests] : many_)
    if (!take(pages, requests)) return;
}

double Lengths::share_up_to(std::uint64_t pages) const {
  std::uint64_t so_far = 0;
  each([&](std::uint64_t length, std::uint64_t requests) {
    if (length <= pages) so_far += requests;
    return length <= pages;
  });
  return count_ == 0 ? 0 : static_cast<double>(so_far) / static_cast<double>(count_);
}

std::uint64_t Lengths::median() const {
  std::uint64_t middle = 0;
  std::uint64_t so_far = 0;
  each([&](std::uint64_t length, std::uint64_t requests) {
    middle = length;
    so_far += requests;
    return 2 * so_far < count_;
  });
  return middle;
}

std::vector<std::uint64_t> Lengths::by_power() const {
  std::vector<std::uint64_t> counts;
  each([&](std::uint64_t length, std::uint64_t requests) {
    const auto power = static_cast<std::size_t>(std::bit_width(length) - 1);
    if (counts.size() <= power) counts.resize(power + 1);
    counts[power] += requests;
    return true;
  });
  return counts;
}

LengthSummary Lengths::summary() const {
  LengthSummary summary{.by_power = by_power(), .median = median()};
  for (std::size_t i = 0; i < std::size(kLengthSteps); ++i) summary.shares_up_to[i] = share_up_to(kLengthSteps[i]);
  return summary;
}

}  // namespace longhaul::registration
