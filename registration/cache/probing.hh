// Open addressing with linear probing; what is erased leaves no mark (Knuth 6.4, algorithm R).
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace longhaul::registration {

/// `Keys` tells two things of a slot: whether it is empty(), and its key(), a number. An empty slot is Keys::kEmpty.
template <typename Slot, typename Keys>
class ProbingTable {
 public:
  /// At most one slot of `spare` is used; spare > 1.
  ProbingTable(Keys keys, std::size_t spare) : keys_(std::move(keys)), spare_(spare), slots_(kLeast, Keys::kEmpty) {}

  /// The slot with this key; an empty one: there is none.
  const Slot& find(std::uint64_t key) const { return slots_[place(key)]; }
  Slot& find(std::uint64_t key) { return slots_[place(key)]; }

  /// It has a key that no slot has yet. Valid until the next change.
  Slot& insert(Slot slot) {
    if (spare_ * (used_ + 1) > slots_.size()) grow();
    ++used_;
    return slots_[place(keys_.key(slot))] = slot;
  }

  /// A slot has this key.
  void erase(std::uint64_t key) {
    auto hole = place(key);
    --used_;
    for (auto at = next(hole); !keys_.empty(slots_[at]); at = next(at)) {
      // It may move up where its way from home leads over the hole.
      const auto away = (at - home(keys_.key(slots_[at]))) & (slots_.size() - 1);
      if (away < ((at - hole) & (slots_.size() - 1))) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = Keys::kEmpty;
  }

  /// All of them, the empty ones, too.
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  static constexpr std::size_t kLeast = 64;  // a power of two

  std::size_t home(std::uint64_t key) const { return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15 >> shift_); }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  std::size_t place(std::uint64_t key) const {
    auto at = home(key);
    while (!keys_.empty(slots_[at]) && keys_.key(slots_[at]) != key) at = next(at);
    return at;
  }
  void grow() {
    const auto old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size(), Keys::kEmpty));
    --shift_;
    for (const auto& slot : old)
      if (!keys_.empty(slot)) slots_[place(keys_.key(slot))] = slot;
  }

  Keys keys_;
  std::size_t spare_;
  std::vector<Slot> slots_;
  unsigned shift_ = 64 - std::countr_zero(kLeast);
  std::size_t used_ = 0;
};

}  // namespace longhaul::registration
