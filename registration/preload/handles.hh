// What a program gets for a registration: an ibv_mr of its own, over a region that the cache has registered once.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <mutex>

#include "registration/cache/shared_cache.hh"

namespace longhaul::registration {

/// A registered region, in the cache or on its way out.
struct Kept {
  static constexpr std::uint32_t kOut = 1U << 31;  ///< of `uses`: no request finds it any more, its last user ends it

  ibv_mr* region = nullptr;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  Pages pages;                         ///< in its space
  std::atomic<std::uint32_t> uses{0};  ///< handles that stand for it
  Kept* next = nullptr;                ///< of those that are to be deregistered

  std::uint64_t space() const { return pages.first / SharedCache::kSpacePages; }
};

/// Begins as libibverbs' own (verbs_mr), so that a provider finds the fields there that it knows, and zeros behind them
/// (an ordinary region).
struct Handle {
  ibv_mr mr;
  std::uint32_t type;    ///< IBV_MR_TYPE_MR
  std::uint32_t access;  ///< as it was asked for
  std::uint64_t provider[6];
  Kept* kept;    ///< null: not in use, or the region is this handle's alone (rereg_mr)
  ibv_mr* own;   ///< that region
  Handle* next;  ///< of those that are free
};
static_assert(sizeof(Handle) == 128);

/// All handles of the process: in a range of addresses of their own, by which one is known. Never unmapped.
class Handles {
 public:
  /// A thread's handful, so that it does not wait for another one. Given back before it goes.
  struct Purse {
    Handle* first = nullptr;
    std::uint32_t count = 0;
  };

  Handles();
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  /// Whether it is a handle, in use or not.
  bool contains(const void* mr) const {
    const auto offset = reinterpret_cast<std::uintptr_t>(mr) - base_;
    return offset < kRoom * sizeof(Handle) && offset % sizeof(Handle) == 0;
  }
  /// nullptr: there are no more.
  Handle* take(Purse& purse) {
    if (purse.first == nullptr && !refill(purse)) return nullptr;
    auto* const handle = purse.first;
    purse.first = handle->next;
    --purse.count;
    return handle;
  }
  void give(Purse& purse, Handle* handle) {
    handle->kept = nullptr;
    handle->own = nullptr;
    handle->next = purse.first;
    purse.first = handle;
    if (++purse.count > 2 * kHandful) give_back(purse, kHandful);
  }
  void give_back(Purse& purse, std::uint32_t left);

 private:
  static constexpr std::size_t kRoom = 1 << 20;  // handles: 128 MiB of addresses
  static constexpr std::uint32_t kHandful = 64;
  bool refill(Purse& purse);

  std::uintptr_t base_ = 0;
  std::mutex mutex_;
  std::size_t made_ = 0;
  Handle* free_ = nullptr;
};

}  // namespace longhaul::registration
