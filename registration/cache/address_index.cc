#include "registration/cache/address_index.hh"

#include <algorithm>
#include <bit>

namespace longhaul::registration {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr unsigned kBits = 64;

// The bits from `first` on, `count` of them; first + count <= 64, count > 0.
std::uint64_t bits(unsigned first, unsigned count) {
  return (kAll >> (kBits - count)) << first;
}

// A range's part in each block: block number, bits.
template <typename Act>
void each_block(Pages pages, unsigned shift, const Act& act) {
  for (auto page = pages.first; page < pages.end();) {
    const auto offset = static_cast<unsigned>(page & (kBits - 1));
    const auto count = static_cast<unsigned>(std::min<std::uint64_t>(kBits - offset, pages.end() - page));
    act(page >> shift, bits(offset, count));
    page += count;
  }
}

}  // namespace

void AddressIndex::insert(RegionId id) {
  const auto& region = regions_[id];
  ++size_;
  by_first_page_.insert(id);
  if (region.count > kLargest) {
    large_.emplace(region.first, id);
    return;
  }
  each_block({region.first, region.count}, kShift, [this](std::uint64_t number, std::uint64_t mask) {
    auto& one = blocks_.find(number);
    (one.number == number ? one : blocks_.insert({.number = number, .taken = 0, .begins = 0})).taken |= mask;
  });
  blocks_.find(region.first >> kShift).begins |= std::uint64_t{1} << (region.first & (kBits - 1));
}

void AddressIndex::erase(RegionId id) {
  const auto& region = regions_[id];
  --size_;
  by_first_page_.erase(region.first);
  if (region.count > kLargest) {
    large_.erase(region.first);
    return;
  }
  each_block({region.first, region.count}, kShift, [&](std::uint64_t number, std::uint64_t mask) {
    auto& one = blocks_.find(number);
    one.taken &= ~mask;
    if (number == region.first >> kShift) one.begins &= ~(std::uint64_t{1} << (region.first & (kBits - 1)));
    if (one.taken == 0) blocks_.erase(number);
  });
}

// Where the small region begins that has this page.
std::uint64_t AddressIndex::begin_of(std::uint64_t page) const {
  auto number = page >> kShift;
  auto before = blocks_.find(number).begins & bits(0, static_cast<unsigned>(page & (kBits - 1)) + 1);
  while (before == 0) before = blocks_.find(--number).begins;
  return (number << kShift) + (kBits - 1 - static_cast<unsigned>(std::countl_zero(before)));
}

void AddressIndex::small_touching(Pages asked, std::vector<RegionId>& found) const {
  bool first = true;
  each_block(asked, kShift, [&](std::uint64_t number, std::uint64_t mask) {
    const auto& one = blocks_.find(number);  // an empty one has no bits
    const auto first_page = first ? mask & (~mask + 1) : 0;
    first = false;
    if ((one.taken & first_page) != 0) found.push_back(by_first_page_.find(begin_of(asked.first)));
    // What the first page has is found already.
    for (auto begins = one.begins & mask & ~first_page; begins != 0; begins &= begins - 1)
      found.push_back(by_first_page_.find((number << kShift) + static_cast<unsigned>(std::countr_zero(begins))));
  });
}

// The same for a range of more blocks than the table has: all of an address space, say.
void AddressIndex::small_within(Pages asked, std::vector<RegionId>& found) const {
  for (const auto& one : blocks_.slots())
    for (auto begins = one.begins; begins != 0; begins &= begins - 1) {
      const auto id = by_first_page_.find((one.number << kShift) + static_cast<unsigned>(std::countr_zero(begins)));
      const auto& region = regions_[id];
      if (region.first < asked.end() && region.first + region.count > asked.first) found.push_back(id);
    }
}

void AddressIndex::touching(Pages asked, std::vector<RegionId>& found) const {
  const auto before = static_cast<std::ptrdiff_t>(found.size());
  const bool wide = asked.count >> kShift > blocks_.slots().size();
  if (wide)
    small_within(asked, found);
  else
    small_touching(asked, found);
  if (large_.empty() && !wide) return;
  auto it = large_.upper_bound(asked.first);
  if (it != large_.begin() && std::prev(it)->first + regions_[std::prev(it)->second].count > asked.first) --it;
  for (; it != large_.end() && it->first < asked.end(); ++it) found.push_back(it->second);
  std::sort(found.begin() + before, found.end(),
            [this](RegionId a, RegionId b) { return regions_[a].first < regions_[b].first; });
}

}  // namespace longhaul::registration
