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
      : regions_(regions), by_first_page_(regions), blocks_({}, kSpare) {}

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
  static constexpr std::size_t kSpare = 2;
  static constexpr unsigned kShift = 6;               // pages of a block: 2^kShift
  static constexpr std::uint64_t kLargest = 64 << 6;  // pages of a region that is kept in blocks (16 MiB)

  struct Block {
    std::uint64_t number;
    std::uint64_t taken;   // a bit a page
    std::uint64_t begins;  // where regions begin
  };
  struct Numbers {
    static constexpr Block kEmpty{.number = ~std::uint64_t{0}, .taken = 0, .begins = 0};
    bool empty(const Block& block) const { return block.number == kEmpty.number; }
    std::uint64_t key(const Block& block) const { return block.number; }
  };

  std::uint64_t begin_of(std::uint64_t page) const;
  void small_touching(Pages asked, std::vector<RegionId>& found) const;
  void small_within(Pages asked, std::vector<RegionId>& found) const;

  const std::vector<Regions::Region>& regions_;
  FirstPages by_first_page_;
  ProbingTable<Block, Numbers> blocks_;
  absl::btree_map<std::uint64_t, RegionId> large_;  // by first page
  std::size_t size_ = 0;
};

}  // namespace longhaul::registration
