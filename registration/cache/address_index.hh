// Regions by address: which ones does a range touch? Regions never overlap one another.
//
// Memory is seen in blocks of 64 pages. Of each block that a region touches a hash table has two words: which of its
// pages are taken, and on which of them a region begins. A range that touches nothing, the usual miss, is found out by
// a look at its one or two blocks, where a tree descends. Regions that would fill many blocks are few: they have a
// tree.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <vector>

#include "registration/cache/first_pages.hh"

namespace longhaul::registration {

class AddressIndex {
 public:
  explicit AddressIndex(const std::vector<Regions::Region>& regions)
      : regions_(regions), by_first_page_(regions), blocks_(kLeast) {}

  /// The region that begins there; kNoRegion: none does.
  RegionId find(std::uint64_t first) const { return by_first_page_.find(first); }

  /// Appends those that share a page with `asked`, in the order of addresses.
  void touching(Pages asked, std::vector<RegionId>& found) const;

  /// It overlaps none that is there.
  void insert(RegionId id);
  /// It is there.
  void erase(RegionId id);

  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kLeast = 64;           // a power of two
  static constexpr unsigned kShift = 6;               // pages of a block: 2^kShift
  static constexpr std::uint64_t kLargest = 64 << 6;  // pages of a region that is kept in blocks (16 MiB)
  static constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};

  struct Block {
    std::uint64_t number = kNoBlock;
    std::uint64_t taken = 0;   // a bit a page
    std::uint64_t begins = 0;  // where regions begin
  };

  const Block* block(std::uint64_t number) const;
  Block& make(std::uint64_t number);
  void drop(std::size_t at);
  void grow();
  std::size_t home(std::uint64_t number) const {
    return static_cast<std::size_t>(number * 0x9e3779b97f4a7c15 >> shift_);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (blocks_.size() - 1); }
  std::uint64_t begin_of(std::uint64_t page) const;
  void small_touching(Pages asked, std::vector<RegionId>& found) const;
  void small_within(Pages asked, std::vector<RegionId>& found) const;

  const std::vector<Regions::Region>& regions_;
  FirstPages by_first_page_;
  std::vector<Block> blocks_;  // open addressing with linear probing, at most half full; no marks
  unsigned shift_ = 64 - std::countr_zero(kLeast);
  std::size_t used_ = 0;
  absl::btree_map<std::uint64_t, RegionId> large_;  // by first page
  std::size_t size_ = 0;
};

}  // namespace longhaul::registration
